/* Reads all of a file, lines of nine letters, in the way that its first argument names. */
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

int main(int count, char **words) {
    const char *way = words[1];
    char word[100];
    wchar_t wide[100];
    long lines = 0;
    if (count != 3 || !setlocale(LC_ALL, "C.UTF-8") || !freopen(words[2], "r", stdin)) return 2;
    if (!strcmp(way, "fscanf")) while (fscanf(stdin, "%99s", word) == 1) lines++;
    if (!strcmp(way, "scanf")) while (scanf("%99s", word) == 1) lines++;
    if (!strcmp(way, "getchar")) for (int letter; (letter = getchar()) != EOF;) lines += letter == '\n';
    if (!strcmp(way, "fgetwc")) for (wint_t letter; (letter = fgetwc(stdin)) != WEOF;) lines += letter == L'\n';
    if (!strcmp(way, "fgetws")) while (fgetws(wide, 100, stdin)) lines++;
    if (!strcmp(way, "fwscanf")) while (fwscanf(stdin, L"%99ls", wide) == 1) lines++;
    printf("%ld\n", lines);
    return 0;
}
