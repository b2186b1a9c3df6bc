// What runs when a loadable runs: one register program for all its hardware tasks, the tasks of the host between them, and memory before.
//
// Source  loadable.md.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "loadable/host_task.h"
#include "loadable/schedule.h"
#include "loadable/tensors.h"
#include "workload/workload.h"

namespace dlasim::loadable {

struct Options {
    Mode mode = Mode::Overlap;
    std::vector<std::string> inputs;  // files of the inputs, in the order of their numbers; those without one are seeded
    InputForm form = InputForm::Auto;
    std::uint32_t seed = 1;
    std::size_t chains = SIZE_MAX;                            // limit, after which the run ends
    std::map<std::string, std::vector<ChannelPiece>> pieces;  // of tensors by name
};

/// What the host does at a HostStep of the program.
struct HostAction {
    enum class Kind { Task, Outputs, Completed };  // a task of the host; look at what the hardware has written; at what a chain has
    Kind kind = Kind::Outputs;
    std::size_t number = 0;  // of the task in `hosts`, of the chain
};

/// A range of memory that is looked at after the run.
struct Range {
    std::size_t memory = 0;  // in the file
    Place place;
    std::uint64_t bytes = 0;
};

struct LoadablePlan : Workload {
    std::shared_ptr<const Loadable> loadable;
    Options options;
    std::optional<MemoryPlan> memories;
    std::vector<HardwareTask> tasks;
    std::vector<HostTask> hosts;
    std::vector<HostAction> actions;                // by number of their HostStep
    std::vector<Scheduled> operations;              // in the order of their enables
    std::vector<Chain> chains;                      // of all hardware tasks
    std::vector<std::vector<std::uint8_t>> inputs;  // of bound(Input)
    std::vector<Range> written;                     // outputs of the hardware, or what it hands to the host
    std::vector<Range> results;                     // memories of the outputs

    const HardwareTask& task_of(const Scheduled& scheduled) const;
    const Operation& operation(const Scheduled& scheduled) const;
};

LoadablePlan plan_loadable(Loadable loadable, const Hardware& hardware, const MemorySpec& memory, Options options);

/// Memory before the run: blobs, then inputs. What is not written is zero.
void fill_memory(const LoadablePlan& plan, const std::function<void(const Place& to, std::span<const std::uint8_t> bytes)>& write);

}  // namespace dlasim::loadable
