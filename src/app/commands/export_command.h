// dlasim export: what `run`, `net` or `loadable` would do, as a program for others.
//
//   case   of interfaces.md 3, with what the run did as its expectation: a file
//   txn    input.txn of the public players of the first generation, with images of memory: a folder
//   cfg    test.cfg of those of the configurable generation, likewise
//   c      a C header for a driver without an operating system: examples/baremetal
#pragma once
#include <array>
#include <string>
#include <vector>

#include "app/commands/planned_program.h"

namespace dlasim {

inline constexpr std::array<const char*, 4> kExportForms{"case", "txn", "cfg", "c"};

struct ExportOptions : ProgramOptions {
    std::string form = "case";
    std::string to;
};

int export_command(const ExportOptions& options);

}  // namespace dlasim
