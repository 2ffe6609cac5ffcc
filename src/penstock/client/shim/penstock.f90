! For programs in Fortran that say what they do; penstock.h is the same for C. Compile this file with the program. Where
! the program is not run under penstock every call does nothing.
!
!     use penstock
!     call penstock_begin(10000000000_int64, penstock_write)
!     write (unit) field
!     call penstock_end()
module penstock
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int64
    implicit none
    private
    public :: penstock_begin, penstock_end, penstock_acquire

    integer(c_int), parameter, public :: penstock_write = 0, penstock_read = 1

    abstract interface
        function begin_in_c(bytes, direction) bind(c)
            import :: c_int, c_int64_t
            integer(c_int64_t), value :: bytes
            integer(c_int), value :: direction
            integer(c_int) :: begin_in_c
        end function
        subroutine end_in_c() bind(c)
        end subroutine
        subroutine acquire_in_c(bytes) bind(c)
            import :: c_int64_t
            integer(c_int64_t), value :: bytes
        end subroutine
    end interface

    interface
        function dlsym(handle, name) bind(c, name="dlsym")
            import :: c_ptr, c_funptr, c_char
            type(c_ptr), value :: handle
            character(kind=c_char), intent(in) :: name(*)
            type(c_funptr) :: dlsym
        end function
    end interface

contains

    ! A phase begins in which so many bytes will be moved; 0: not known.
    subroutine penstock_begin(bytes, direction)
        integer(int64), intent(in) :: bytes
        integer(c_int), intent(in) :: direction
        procedure(begin_in_c), pointer :: call_it
        integer(c_int) :: heard
        type(c_funptr) :: found
        found = dlsym(c_null_ptr, "penstock_shim_begin" // c_null_char)
        if (.not. c_associated(found)) return
        call c_f_procpointer(found, call_it)
        heard = call_it(bytes, direction)
    end subroutine

    ! It is over.
    subroutine penstock_end()
        procedure(end_in_c), pointer :: call_it
        type(c_funptr) :: found
        found = dlsym(c_null_ptr, "penstock_shim_end" // c_null_char)
        if (.not. c_associated(found)) return
        call c_f_procpointer(found, call_it)
        call call_it()
    end subroutine

    ! Wait until so many bytes may be moved.
    subroutine penstock_acquire(bytes)
        integer(int64), intent(in) :: bytes
        procedure(acquire_in_c), pointer :: call_it
        type(c_funptr) :: found
        found = dlsym(c_null_ptr, "penstock_shim_acquire" // c_null_char)
        if (.not. c_associated(found)) return
        call c_f_procpointer(found, call_it)
        call call_it(bytes)
    end subroutine
end module
