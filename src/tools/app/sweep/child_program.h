// Another program, run to its end.
#pragma once
#include <string>
#include <vector>

namespace dlasim {

struct ProgramEnd {
    int status = 0;         // 127: there is no such program; 128 and the signal that ended it
    std::string out, said;  // standard output, standard error; each cut at 1 MiB
};
/// `words`: the program, looked for in PATH, and its arguments; no shell sees them.
ProgramEnd run_program(const std::vector<std::string>& words);

}  // namespace dlasim
