// What every result says of a run, whatever ran: for result.json and for the terminal.
#pragma once
#include <optional>

#include "config/json_object.h"
#include "golden/compare.h"
#include "golden/expected.h"
#include "platform/machine.h"
#include "report/bounds.h"

namespace dlasim {

/// `verified`, `compared`, `mismatches` and the examples.
void put_verdict(OrderedJson& json, const std::optional<Comparison>& comparison);
/// `output`: the file of the tensor, null without one. `expected`: how it differs from the tensor it should be, if there is one.
void put_output(OrderedJson& json, const std::string& file, const std::optional<Difference>& expected);
/// The line of the table; nothing without an expected tensor.
std::string expected_line(const std::optional<Difference>& expected);
/// `units`, `traffic`, `memory_report`.
void put_run(OrderedJson& json, const RunResult& run, const Hardware& hardware, std::uint64_t cycles);
/// `bounds`, `binding_bound` with its share of the cycles, and `estimates`: measured, not bounds.
void put_bounds(OrderedJson& json, const std::vector<Bound>& bounds, const RunResult& run, std::uint64_t cycles);

/// 1234567 as 1,234,567.
std::string grouped(std::uint64_t number);
/// The mismatches in words, `what` are compared.
std::string mismatch_text(const Comparison& comparison, const char* what);
/// Units by phase, traffic by port.
std::string run_table(const RunResult& run, const Hardware& hardware, std::uint64_t cycles);
std::string bounds_table(const std::vector<Bound>& bounds, const RunResult& run, std::uint64_t cycles);

}  // namespace dlasim
