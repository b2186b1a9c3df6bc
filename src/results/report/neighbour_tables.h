// Tables of a run that scripts around other simulators read.
//
//   COMPUTE_REPORT.csv, BANDWIDTH_REPORT.csv   a row a layer, with the names of SCALE-Sim's columns; from result.json
//   an address trace                           a row a burst of the DMA clients, in the order in which the port took them
//
// Source  the tables of both reports in SCALE-Sim's documentation.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "facts/hardware.h"
#include "workload/run_result.h"

namespace dlasim {

inline constexpr const char *kComputeReport = "COMPUTE_REPORT.csv", *kBandwidthReport = "BANDWIDTH_REPORT.csv";

/// Of a layer, or of the steps of a network that run on the machine.
std::string compute_report(const nlohmann::ordered_json& result);
std::string bandwidth_report(const nlohmann::ordered_json& result);

/// cycle,port,access,client,address,bytes: cycles count from t0. Needs a run that logged all commands. `client`: of this one only; empty:
/// of all.
std::string address_trace(const RunResult& run, const Hardware& hardware, const std::string& client);

}  // namespace dlasim
