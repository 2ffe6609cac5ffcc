#include <mpi.h>
#include <stdlib.h>
int main(int count, char **words) {
    MPI_Init(&count, &words);
    int rank, size, n = atoi(words[2]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char *part = calloc(1, n / size);
    MPI_File file;
    if (MPI_File_open(MPI_COMM_WORLD, words[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file)) MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_File_write_at_all(file, (MPI_Offset)rank * (n / size), part, n / size, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
