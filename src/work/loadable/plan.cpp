#include "loadable/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "loadable/nvidia/driver_source.h"

namespace dlasim::loadable {
namespace {

constexpr std::uint64_t kMaxBound = 1u << 28;  // bytes of an input or output
constexpr unsigned kFeatures = 36;             // pixel formats from here on

class Planner {
public:
    Planner(Loadable loadable, const Hardware& hardware, const MemorySpec& memory, Options options)
    {
        for (TensorEntry& tensor : loadable.tensors)
            if (const auto found = options.pieces.find(tensor.name); found != options.pieces.end()) tensor.pieces = found->second;
        p_.loadable = std::make_shared<const Loadable>(std::move(loadable));
        p_.name = std::filesystem::path(p_.loadable->file).filename().string();
        p_.hardware = hardware;
        p_.memory = memory;
        p_.options = std::move(options);
    }

    LoadablePlan plan()
    {
        p_.memories.emplace(*p_.loadable, p_.hardware);
        check_target();
        read_inputs();
        write_program();
        return std::move(p_);
    }

private:
    void check_target() const
    {
        for (const MemoryEntry::Flag flag : {MemoryEntry::Input, MemoryEntry::Output})
            for (const std::size_t m : p_.loadable->bound(flag)) {
                const TensorEntry& tensor = p_.loadable->tensors[p_.loadable->memories[m].tensor];
                const std::uint32_t atom = p_.hardware.memory.atom_bytes;
                const std::string where = p_.loadable->where("tensor", p_.loadable->memories[m].tensor);
                if (p_.loadable->memories[m].size > kMaxBound)
                    throw ConfigError(
                        p_.loadable->where("memory", m),
                        fmt::format("has {} bytes, expected {} at most for an input or output", p_.loadable->memories[m].size, kMaxBound));
                check_tensor(tensor, p_.loadable->memories[m].size, where);
                check_pieces(tensor, where);
                if (tensor.pixel_format == 37 && atom != 8) wrong_atoms(where, 8);
                if (tensor.pixel_format == 36 && tensor.h > 1 && tensor.line_stride < std::uint64_t{tensor.w} * atom)
                    wrong_atoms(where, tensor.line_stride / tensor.w);
                if (tensor.pixel_format == 36 && tensor.h > 1 && tensor.w > 1 && tensor.line_stride > std::uint64_t{tensor.w} * atom &&
                    tensor.line_stride == std::uint64_t{tensor.w} * 32)
                    wrong_atoms(where, 32);
            }
    }
    static void check_pieces(const TensorEntry& tensor, const std::string& where)
    {
        if (tensor.pieces.empty()) return;
        const std::uint32_t last = tensor.pieces.back().at + tensor.pieces.back().count;
        if (tensor.pixel_format < kFeatures || last != tensor.c)
            throw ConfigError(where, fmt::format("has {} channels, expected {} of features, the end of its pieces in the manifest: does "
                                                 "the manifest belong to this file?",
                                                 tensor.c, last));
    }
    [[noreturn]] void wrong_atoms(const std::string& where, std::uint64_t atom) const
    {
        throw ConfigError(where, fmt::format("has atoms of {} bytes: compiled for another machine than {}, whose atoms have {}", atom,
                                             p_.hardware.name, p_.hardware.memory.atom_bytes));
    }

    void read_inputs()
    {
        const std::vector<std::size_t> bound = p_.loadable->bound(MemoryEntry::Input);
        if (p_.options.inputs.size() > bound.size())
            throw ConfigError(p_.options.inputs[bound.size()],
                              fmt::format("is input {}, but {} has {}", p_.options.inputs.size(), p_.loadable->file, bound.size()));
        for (std::size_t i = 0; i < bound.size(); ++i) {
            const MemoryEntry& memory = p_.loadable->memories[bound[i]];
            const TensorEntry& tensor = p_.loadable->tensors[memory.tensor];
            p_.inputs.push_back(i < p_.options.inputs.size()
                                    ? read_input(tensor, memory.size, p_.options.inputs[i], p_.options.form)
                                    : seeded_input(tensor, memory.size, p_.options.seed, p_.loadable->where("tensor", memory.tensor)));
        }
    }

    void write_program()
    {
        const bool driven = p_.options.mode == Mode::Driver;
        Programmer programmer(p_.hardware, *p_.loadable, *p_.memories, p_.program);
        Scheduler scheduler(p_.options.mode, programmer, p_.program, [&](std::size_t chain) { act({HostAction::Kind::Completed, chain}); });
        DriverWork work{p_.loadable, p_.hardware, *p_.memories, {}};
        add_tasks(
            [&](const std::vector<Chain>& chains, std::size_t count) {
                if (driven) add_driven(work, chains, count);
                else scheduler.add(p_.tasks.back(), chains, count);
            },
            [&] {
                if (driven) work.parts.push_back({.step = p_.actions.size() - 1, .task = {}, .chains = {}, .judged = {}});
                else p_.program.push_back(HostStep{p_.actions.size() - 1});
            });
        p_.operations = driven ? drive(std::move(work)) : scheduler.take();
        p_.work = {"operations", p_.operations.size(), true};
        for (const Scheduled& scheduled : p_.operations) p_.work.steps.push_back(p_.operation(scheduled).name());
        for (const std::size_t m : p_.loadable->bound(MemoryEntry::Output)) p_.results.push_back(range(m));
        for (std::size_t m = 0; m < p_.loadable->memories.size(); ++m)
            p_.ranges.push_back({p_.loadable->where("memory", m), p_.memories->base(m), p_.loadable->memories[m].size});
    }

    /// Tasks in their order. `run` gets the chains of the last of `tasks`, and how many of them run; `step` follows an action of the host.
    void add_tasks(const std::function<void(const std::vector<Chain>& chains, std::size_t count)>& run, const std::function<void()>& step)
    {
        std::size_t left = p_.options.chains;
        const auto hardware_left = [&](std::size_t from) {
            return std::any_of(p_.loadable->order.begin() + static_cast<std::ptrdiff_t>(from), p_.loadable->order.end(),
                               [&](std::size_t task) { return p_.loadable->tasks[task].interface == Interface::Dla; });
        };
        for (std::size_t i = 0; i < p_.loadable->order.size() && left > 0; ++i) {
            const std::size_t task = p_.loadable->order[i];
            if (p_.loadable->tasks[task].interface == Interface::Emu) {
                p_.hosts.push_back(read_host_task(*p_.loadable, *p_.memories, task));
                p_.actions.push_back({HostAction::Kind::Task, p_.hosts.size() - 1});
                step();
                continue;
            }
            p_.tasks.push_back(read_task(*p_.loadable, *p_.memories, task));
            const std::vector<Chain> chains = chains_of(p_.tasks.back());
            const std::size_t count = std::min(left, chains.size());
            run(chains, count);
            p_.chains.insert(p_.chains.end(), chains.begin(), chains.begin() + static_cast<std::ptrdiff_t>(count));
            left -= count;
            if (left != 0 && hardware_left(i + 1)) continue;
            find_written(p_.tasks.back(), chains, count);
            p_.actions.push_back({HostAction::Kind::Outputs, 0});
            step();
        }
    }

    /// The last task for the driver; after each chain the host checks its output.
    void add_driven(DriverWork& work, const std::vector<Chain>& chains, std::size_t count)
    {
        const HardwareTask& task = p_.tasks.back();
        DriverWork::Part part{.step = {}, .task = task, .chains = chains, .first_chain = p_.chains.size(), .judged = {}, .most = count};
        for (const DriverWork::Part& before : work.parts) part.first_stamp += before.task.operations.size();
        for (std::size_t k = 0; k < count; ++k) {
            part.judged.push_back(p_.actions.size());
            p_.actions.push_back({HostAction::Kind::Completed, p_.chains.size() + k});
        }
        work.parts.push_back(std::move(part));
    }

    /// The driver decides while it runs. The program is what it does if chains end in their order: for descriptions, and what is looked for
    /// in programs.
    std::vector<Scheduled> drive(DriverWork&& described)
    {
        const auto work = std::make_shared<const DriverWork>(std::move(described));
        p_.source = [work] { return std::make_unique<DriverSource>(work); };
        DriverSource source(work);
        for (std::size_t before = SIZE_MAX; before != p_.program.size();) {
            before = p_.program.size();
            source.next(source.likely_status(), p_.program);
        }
        return source.enabled();
    }

    void act(HostAction action)
    {
        p_.program.push_back(HostStep{p_.actions.size()});
        p_.actions.push_back(action);
    }

    Range range(std::size_t memory) const { return {memory, p_.memories->base(memory), p_.loadable->memories[memory].size}; }

    /// Outputs that the task writes; where its result goes on to the host, the memory that the host reads.
    void find_written(const HardwareTask& task, const std::vector<Chain>& chains, std::size_t count)
    {
        if (count == 0) return;
        const Task& of = p_.loadable->tasks[task.task];
        std::set<std::size_t> memories;
        for (std::size_t i = 0; i < task.operations.size(); ++i) {
            const Operation& o = task.operations[i];
            for (const Transfer& transfer : o.bdma.transfers)
                memories.insert(p_.memories->memory_of(of, transfer.destination, task.where_is(i)));
            if (const Cube* to = o.destination(); to && !to->on_the_fly() && to->address >= 0)
                memories.insert(p_.memories->memory_of(of, to->address, task.where_is(i)));
        }
        if (count == chains.size())
            for (const std::size_t m : p_.loadable->bound(MemoryEntry::Output))
                if (memories.contains(m)) p_.written.push_back(range(m));
        if (!p_.written.empty()) return;
        const std::size_t last = chains[count - 1].front();
        if (const Cube* to = task.operations[last].destination(); to && to->address >= 0)
            p_.written.push_back(range(p_.memories->memory_of(of, to->address, task.where_is(last))));
    }

    LoadablePlan p_;
};

}  // namespace

const HardwareTask& LoadablePlan::task_of(const Scheduled& scheduled) const
{
    return *std::find_if(tasks.begin(), tasks.end(), [&](const HardwareTask& task) { return task.task == scheduled.task; });
}

const Operation& LoadablePlan::operation(const Scheduled& scheduled) const { return task_of(scheduled).operations[scheduled.operation]; }

LoadablePlan plan_loadable(Loadable loadable, const Hardware& hardware, const MemorySpec& memory, Options options)
{
    return Planner(std::move(loadable), hardware, memory, std::move(options)).plan();
}

void fill_memory(const LoadablePlan& plan, const std::function<void(const Place& to, std::span<const std::uint8_t> bytes)>& write)
{
    for (std::size_t m = 0; m < plan.loadable->memories.size(); ++m)
        for (const Content& content : plan.loadable->memories[m].contents)
            write(plan.memories->base(m) + content.offset, plan.loadable->blobs[content.blob].bytes);
    const std::vector<std::size_t> bound = plan.loadable->bound(MemoryEntry::Input);
    for (std::size_t i = 0; i < bound.size(); ++i) write(plan.memories->base(bound[i]), plan.inputs[i]);
}

}  // namespace dlasim::loadable
