program says
    use penstock
    use, intrinsic :: iso_fortran_env, only: int64
    implicit none
    integer :: unit
    real(8) :: field(125000)
    character(4096) :: path
    call get_command_argument(1, path)
    field = 1.0d0
    call penstock_begin(3000000_int64, penstock_write)
    open (newunit=unit, file=trim(path), form="unformatted", access="stream", status="replace")
    write (unit) field
    call penstock_acquire(1000000_int64)
    write (unit) field
    close (unit)
    call penstock_acquire(1000000_int64)
    call penstock_end()
end program
