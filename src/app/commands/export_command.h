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

#include "app/commands/loadable_command.h"

namespace dlasim {

inline constexpr std::array<const char*, 4> kExportForms{"case", "txn", "cfg", "c"};

struct ExportOptions {
    LoadableOptions what;                // a layer, a network, a model or a loadable, by its content; the options of `loadable`
    std::vector<std::string> calibrate;  // of a model
    std::string precision;
    std::string form = "case";
    std::string to;
};

int export_command(const ExportOptions& options);

}  // namespace dlasim
