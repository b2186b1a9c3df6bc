// What a register program does, in words: its operations as its registers describe them, and every entry with the fields of its register.
#pragma once
#include <functional>
#include <string>

#include "facts/hardware.h"
#include "replay/recording.h"
#include "workload/program.h"

namespace dlasim {

/// A line an entry: address, register, value, fields. `step` names a step of the host; empty: it has no line.
std::string program_text(const Program& program, const Hardware& hardware, const std::function<std::string(std::size_t step)>& step);

/// Memory before the program, regions after it, operations, entries: for `replay --describe`.
std::string recording_description(const MeasuredCase& recorded);

}  // namespace dlasim
