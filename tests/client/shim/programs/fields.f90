program fields
    implicit none
    character(4096) :: path, word
    integer :: volume, unit, i
    real(8) :: field(1000)
    call get_command_argument(1, path)
    call get_command_argument(2, word)
    read (word, *) volume
    field = 1.5d0
    open (newunit=unit, file=trim(path), form="unformatted", access="stream", status="replace")
    do i = 1, volume / 8000
        write (unit) field
    end do
    close (unit)
end program
