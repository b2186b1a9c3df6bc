// Whether NVIDIA's runtime library and kernel driver run a file, without running it: every rule of loadable_writing.md, with the place in
// the file. Files that read_loadable() refuses are looked at too.
//
//   bytes ──► lists as they are ──► container, memories, bindings, submits ──► tasks ──► graph, schedule ──► operations ──► findings
//
// Source  loadable_writing.md, check_loadable.py (the same rules by the same names).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "facts/hardware.h"

namespace dlasim::loadable {

struct Finding {
    bool refused = true;    // the public software refuses, crashes, hangs or misreads the file; else ignored or right by luck
    std::string_view rule;  // its name
    std::string place;      // list and index in the file: "task 0: operation 3 (CONV)"
    std::string problem;    // the field, what was found and what would do
};

/// `file`: its name, for messages alone.
std::vector<Finding> check_for_driver(const std::string& bytes, const std::string& file, const Hardware& hardware);

/// The section of loadable_writing.md with that rule.
std::string_view section_of(std::string_view rule);

/// A line each, "E rule (section) place: problem" or "W ..", and one with the sums.
std::string findings_text(const std::vector<Finding>& findings, const std::string& file, const Hardware& hardware);

}  // namespace dlasim::loadable
