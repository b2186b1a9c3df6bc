// Machines of a sweep: the rows of a machine's workloads together, and whether it meets what is required.
//
//   rows of points ──► one row a machine: figures of every workload, their mean by weight, the worst ──► machines.csv, .json
//                                                                  └──► answer.h
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/keys.h"
#include "sweep/requirement.h"
#include "sweep/schedule.h"
#include "sweep/store.h"

namespace dlasim {

struct AskedWorkload {
    std::string name;
    double weight = 1;
    std::vector<Requirement> require;
    double rate = 0;  // frames a second; 0: judged by itself, as fast as possible
    std::optional<double> deadline_ms;
    int priority = 0;
    std::vector<Requirement> deadline;  // of its latency
};

/// What is asked of the machines of a sweep.
struct MachineQuestion {
    std::vector<std::string> axes;         // of machines
    std::vector<AskedWorkload> workloads;  // one without a name where the sweep has none
    std::vector<Requirement> require;      // of every workload
    FrameOrder order = FrameOrder::FirstCome;
    std::vector<std::vector<std::size_t>> points;  // places on all axes; with several workloads the last axis is theirs
    double area_error = 0, power_error = 0;        // shares
    std::string best;                              // figure by which machines that meet everything are compared
    std::string command;                           // that runs a machine's workloads with values, without its number at the end

    bool asked() const;
    /// Some workloads have a rate, so the machine is judged on all of them together.
    bool rated() const;
    /// A column that a machine has once: load, system_mw, a workload's latency.
    bool is_of_machine(const std::string& column) const;
    /// Share by which the model of areas or of powers may be wrong about a figure; 0 where the figure is no model's.
    double error_of(const std::string& column) const;
};

struct SweptMachine {
    std::vector<std::size_t> place;  // on the axes of machines
    std::size_t point = 0;           // its first
    nlohmann::ordered_json row;
    std::vector<PeriodicWork> works;  // of the workloads, where some have a rate
    bool whole = false;               // every workload has a result
    bool meets = false;
};

/// What is known of a point: no figure is less, and none more. Both are its row when it has run; without a figure, nothing is known of it.
struct KnownPoint {
    nlohmann::ordered_json least = nlohmann::ordered_json::object(), most = nlohmann::ordered_json::object();
    bool ran = false;
};

/// What is known of a machine, from its points: of any figure of its row, or of an expression of them.
class KnownMachine {
public:
    /// `points`: of each workload of the question, which outlives this.
    KnownMachine(const std::vector<KnownPoint>& points, const MachineQuestion& question);
    /// Of a figure to compare machines by: of the mean, where each workload has it.
    FigureRange range(const std::string& column, const std::string& prefix = "mean.") const;
    /// Which requirement it cannot meet, and what is known of that; empty if it may meet all. `of`: of these figures alone, if there are
    /// any
    std::string cannot_meet(std::span<const std::string_view> of = {}) const;

private:
    FigureRange plain(const std::string& name) const;
    const MachineQuestion& question_;
    bool ran_ = true;
    SweptMachine least_, most_;
};

/// A machine whose workloads have these rows.
SweptMachine machine_of(const std::vector<const nlohmann::ordered_json*>& rows, const MachineQuestion& question,
                        const std::vector<std::size_t>& place, std::size_t point);
/// In the order of the points. `store` has their rows.
std::vector<SweptMachine> machines_of(SweepStore& store, const MachineQuestion& question);
std::vector<PlacedKey> machine_row_keys();

}  // namespace dlasim
