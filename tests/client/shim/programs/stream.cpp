#include <cstdlib>
#include <fstream>
#include <string>
int main(int, char **words) {
    std::ofstream file(words[1]);
    const std::string line(99, 'x');
    for (long left = std::atol(words[2]); left > 0; left -= 100) file << line << '\n';
}
