// What every result says of a run, whatever ran: for result.json and for the terminal.
#pragma once
#include <optional>

#include "config/json_object.h"
#include "golden/compare.h"
#include "platform/machine.h"
#include "report/bounds.h"

namespace dlasim {

/// `verified`, `compared`, `mismatches` and the examples.
void put_verdict(OrderedJson& json, const std::optional<Comparison>& comparison);
/// `units`, `traffic`, `memory_report`.
void put_run(OrderedJson& json, const RunResult& run, const Hardware& hardware, std::uint64_t cycles);
void put_bounds(OrderedJson& json, const std::vector<Bound>& bounds);

/// 1234567 as 1,234,567.
std::string grouped(std::uint64_t number);
/// The mismatches in words, `what` are compared.
std::string mismatch_text(const Comparison& comparison, const char* what);
/// Units by phase, traffic by port.
std::string run_table(const RunResult& run, const Hardware& hardware, std::uint64_t cycles);
std::string bounds_table(const std::vector<Bound>& bounds);

}  // namespace dlasim
