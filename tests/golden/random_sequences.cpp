// Sequences of layers through both register groups of every unit: 2 to 4 convolutions with their operands or pooled on the fly,
// as many layers of SDP alone, of PDP alone and of CDP, and on nv_full launches of BDMA and reshapes by Rubik, in a random order
// and all under way at once. Each is programmed while the one before it runs: software waits only for the group that it
// writes, and for tables that a layer still looks up. Every output must be what it is when the layer runs alone, and skipping must
// be stepping, in every event.
//
// usage: random_laws sequences FIRST COUNT [causes]
//
// Prints one line a failure; exits 1 if there is one. With `causes` no run is stepped: causes are summed up at the end, as there is memory
// for notes, and every few cycles, and must be the same.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "apart.h"
#include "jobs/job.h"
#include "lint/layer_ends.h"
#include "lowering/program/program_writer.h"
#include "random_laws.h"
#include "registers/interrupts.h"
#include "sequence_maker.h"

namespace dlasim {
namespace random_sequences_law {

/// GLB status bit of a unit's register group; 0 for units that raise none of their own, or none that is waited for.
std::uint32_t done_bit(const std::string& unit, unsigned group)
{
    if (unit == "SDP") return 1u << group;
    if (unit == "CDP") return reg::glb::kCdp.bit(group);
    if (unit == "PDP") return reg::glb::kPdp.bit(group);
    if (unit == "BDMA") return reg::glb::kBdma.bit(group);
    if (unit == "RBK") return reg::glb::kRubik.bit(group);
    return 0;
}

/// One operation: its register writes, and what it is when it has its place in the sequence.
struct Step {
    std::string name;
    std::vector<RegisterWrite> writes;
    std::uint32_t done = 0;  // all of these rise
    bool known_done = false;
};

/// The program of all steps: which group of a unit is whose, and who must be awaited for it.
class SequenceProgram {
public:
    SequenceProgram(const Hardware& hardware, std::vector<std::vector<Step>> queues, std::mt19937& random) : writer_(hardware, program_)
    {
        writer_.poll("CDMA.S_CBUF_FLUSH_STATUS", 1);
        const std::size_t mask = program_.size();
        writer_.write("GLB.S_INTR_MASK", 0);
        std::size_t left = 0;
        for (const auto& queue : queues) left += queue.size();
        steps_.reserve(left);
        std::vector<std::size_t> next(queues.size());
        for (; left > 0; --left) {
            std::size_t nth = random() % left, q = 0;
            while (nth >= queues[q].size() - next[q]) nth -= queues[q].size() - next[q], ++q;
            steps_.push_back(std::move(queues[q][next[q]++]));
            add(steps_.back());
            if (steps_.size() == 1) writer_.add(MarkT0{});
        }
        std::uint32_t rest = 0;
        for (const Step& step : steps_) rest |= step.known_done ? 0 : step.done;
        writer_.add(WaitStatus{rest});
        std::get<RegisterWrite>(program_[mask]).value = 0x3fffff & ~all_bits_;
    }

    const Program& program() const { return program_; }
    std::string order() const
    {
        std::string text;
        for (const Step& step : steps_) text += " " + step.name;
        return text;
    }

private:
    void add(Step& step)
    {
        const auto unit_of = [](const RegisterWrite& write) { return write.name.substr(0, write.name.find('.')); };
        const bool table =
            std::any_of(step.writes.begin(), step.writes.end(), [](const RegisterWrite& w) { return w.name.starts_with("SDP.S_LUT_"); });
        std::uint32_t wait = table ? await(table_) : 0;
        if (table) table_ = &step;
        for (RegisterWrite& write : step.writes) {
            const bool launch = write.name.starts_with("BDMA.CFG_LAUNCH");
            if (!launch && !write.name.ends_with(".S_POINTER")) continue;
            const std::string unit = unit_of(write);
            const unsigned group = uses_[unit]++ % 2;
            Step*& owner = owners_[{unit, group}];
            wait |= await(owner);
            owner = &step;
            // A launch names its group itself.
            if (!launch) write.value = group;
            step.done |= done_bit(unit, group);
        }
        all_bits_ |= step.done;
        if (wait != 0) writer_.add(WaitStatus{wait});
        for (const RegisterWrite& write : step.writes) writer_.add(write);
    }

    /// The bits to wait for until a step is done; none if that is known.
    static std::uint32_t await(Step* step)
    {
        if (!step || step->known_done) return 0;
        step->known_done = true;
        return step->done;
    }

    Program program_;
    ProgramWriter writer_;
    std::vector<Step> steps_;
    std::map<std::string, unsigned> uses_;
    std::map<std::pair<std::string, unsigned>, Step*> owners_;
    Step* table_ = nullptr;  // the last one that looks up SDP's tables
    std::uint32_t all_bits_ = 0;
};

/// The writes of a program that was made to run alone.
Step step_of(const std::string& name, const Program& program, bool with_tables)
{
    Step step;
    step.name = name;
    for (const ProgramEntry& entry : program) {
        const auto* write = std::get_if<RegisterWrite>(&entry);
        if (!write || write->name == "GLB.S_INTR_MASK") continue;
        if (!with_tables && write->name.find(".S_LUT_") != std::string::npos) continue;
        step.writes.push_back(*write);
    }
    return step;
}

/// Every probe and every command on the bus.
std::string events(const RunResult& run)
{
    std::string text;
    for (const ProbeEvents& probe : run.probes) {
        text += fmt::format("{} {} {} {}:", probe.name, probe.active, probe.first, probe.last);
        for (const auto& [start, length] : probe.runs) text += fmt::format(" {}+{}", start, length);
        text += '\n';
    }
    for (const PortTraffic* port : {&run.dbb, &run.cvsram})
        for (const auto* log : {&port->ar_log, &port->aw_log}) {
            for (const BusCommand& c : *log) text += fmt::format(" {} {:#x} {} {}", c.cycle, c.address, c.beats, c.id);
            text += '\n';
        }
    return text;
}

class Sequence {
public:
    explicit Sequence(std::uint64_t seed)
    {
        SequenceMaker maker(seed);
        hardware_ = maker.hardware();
        memory_ = maker.memory_spec();
        std::vector<std::vector<Step>> queues(4);
        for (const Layer& layer : maker.layers()) {
            jobs_.push_back(job_of(layer, hardware_, memory_));
            queues[0].push_back(step_of(layer.name, jobs_.back().program, true));
        }
        std::vector<std::vector<Transfer>> transfers{maker.lrns(), maker.copies(), maker.reshapes()};
        for (std::size_t q = 0; q < transfers.size(); ++q)
            for (const Transfer& transfer : transfers[q]) {
                jobs_.push_back(job_of(transfer, hardware_, memory_));
                const bool tables = queues[q + 1].empty();  // they are live: those of the first layer serve all
                queues[q + 1].push_back(step_of(transfer.name, jobs_.back().program, tables));
            }
        program_.emplace(hardware_, std::move(queues), maker.random());
    }

    std::string describe() const { return fmt::format("{} --memory {}:{}", hardware_.name, memory_text(memory_), program_->order()); }

    /// 0: every output is right. Figures and events go to `report`.
    int run(bool stepping, Cycle sum_up_every, int report) const
    {
        SimulateOptions options;
        options.stepping = stepping;
        options.sum_up_every = sum_up_every;
        options.events = true;
        options.drain = true;
        Machine machine(hardware_, memory_, options);
        for (const Job& job : jobs_)
            job.contents->before([&](const Place& place, std::span<const std::uint8_t> bytes) { machine.write_memory(place, bytes); });
        const RunResult result = machine.run(program_->program());
        // The silicon may hang on a small convolution that is enabled before the one in front has ended: so must every run.
        if (result.hung && !lint::early_layers(hardware_, program_->program()).empty())
            return put(report, "hangs as the silicon does\n") ? 0 : 1;
        if (!put(report, figures(result) + events(result))) return 1;
        if (result.hung) {
            fmt::print("HANG {}\n{}\n", describe(), result.diagnosis);
            std::fflush(stdout);
            return 1;
        }
        const auto read = [&](const Place& place, std::uint64_t bytes) { return machine.read_memory(place, bytes); };
        bool good = true;
        for (const Job& job : jobs_) {
            const Comparison c = job.contents->after({read}).comparison;
            if (!c.equal())
                fmt::print("WRONG {} of {} differ; {}; {}\n", c.mismatches, c.compared, c.examples[0], job.text.descriptor.dump());
            good &= c.equal();
        }
        if (std::getenv("DLASIM_VERBOSE") && !stepping) fmt::print("{} cycles {}\n", result.cycles, describe());
        std::fflush(stdout);
        return good ? 0 : 1;
    }

private:
    Hardware hardware_;
    MemorySpec memory_;
    std::vector<Job> jobs_;
    std::optional<SequenceProgram> program_;
};

/// The text around the first place where two reports differ.
std::string difference(const std::string& a, const std::string& b)
{
    const std::size_t at = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
    const std::size_t line = at == 0 ? 0 : a.rfind('\n', at - 1) + 1, from = at > 100 ? at - 100 : 0;
    return fmt::format("in {}\n  skipping  ...{}\n  stepping ...{}\n", a.substr(line, 60), a.substr(from, 200), b.substr(from, 200));
}

}  // namespace random_sequences_law

int random_sequences(int argc, char** argv)
{
    using namespace random_sequences_law;
    const std::uint64_t first = std::strtoull(argv[1], nullptr, 10), count = std::strtoull(argv[2], nullptr, 10);
    std::uint64_t failed = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const Sequence sequence(seed);
        const std::string what = fmt::format("seed {} {}", seed, sequence.describe());
        const auto run = [&](bool stepping, Cycle sum_up_every) {
            return run_apart(what, [&](int report) { return sequence.run(stepping, sum_up_every, report); });
        };
        if (argc > 3) {
            failed += !same_causes(what, [&](Cycle sum_up_every) { return run(false, sum_up_every); });
            continue;
        }
        const std::string skipping = run(false, 0), stepping = run(true, 0);
        const bool good = !skipping.empty() && skipping == stepping;
        if (!good) fmt::print("FAILED {}\n{}", what, skipping == stepping ? "" : difference(skipping, stepping));
        failed += !good;
    }
    fmt::print("{} sequences, {} verified, {} not\n", count, count - failed, failed);
    return failed == 0 ? 0 : 1;
}

}  // namespace dlasim
