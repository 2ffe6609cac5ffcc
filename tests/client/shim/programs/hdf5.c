#include <hdf5.h>
#include <stdlib.h>
int main(int count, char **words) {
    hsize_t n = count > 2 ? (hsize_t)atol(words[2]) / 8 : 0;
    double *field = calloc(n, 8);
    hid_t file = H5Fcreate(words[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), space = H5Screate_simple(1, &n, NULL);
    hid_t set = H5Dcreate(file, "field", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    int bad = H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, field) < 0;
    H5Dclose(set), H5Sclose(space), H5Fclose(file);
    return bad;
}
