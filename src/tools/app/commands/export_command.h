// dlasim export: what `run` would do, as a program for others.
//
//   case   of interfaces.md 3, with what the run did as its expectation: a file
//   txn    input.txn of the public players of the first generation, with images of memory: a folder
//   cfg    test.cfg of those of the configurable generation, likewise
//   c      a C header for a driver without an operating system: examples/baremetal
//   nvdla  a file for NVIDIA's runtime and driver, with a manifest beside it: docs/howto/BOARD.md
#pragma once
#include <array>
#include <string>
#include <vector>

#include "plan/planned.h"

namespace dlasim {

inline constexpr std::array<const char*, 5> kExportForms{"case", "txn", "cfg", "c", "nvdla"};

struct ExportOptions : PlanOptions {
    std::string form = "case";
    std::string to;
    std::string golden;  // of nvdla: a folder for tensors of the run
    bool quiet = false;
};

int export_command(ExportOptions options);

}  // namespace dlasim
