// Programs that keep several units busy at once: a random convolution, pooling or SDP layer with its operands, one to three
// LRN layers through both register groups of CDP, and on nv_full a copy by BDMA and a reshape by Rubik, all enabled before
// any of them is done. Every output must be what it is when the operation runs alone, and skipping must be stepping.
//
// usage: random_laws mixes FIRST COUNT
//
// Prints one line a failure; exits 1 if there is one.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "apart.h"
#include "config/layer/transfer_reader.h"
#include "jobs/job.h"
#include "lowering/program/layer_program.h"
#include "lowering/program/program_writer.h"
#include "random_laws.h"
#include "random_layer.h"
#include "registers/interrupts.h"

namespace dlasim {
namespace random_mixes_law {

/// One operation of the mix: its register writes and the status bit that ends it.
struct Operation {
    std::vector<RegisterWrite> writes;
    std::uint32_t done = 0;
};

/// The writes of a program that was made to run alone; of `group` where it names one.
std::vector<RegisterWrite> writes_of(const Program& program, unsigned group, bool with_tables)
{
    std::vector<RegisterWrite> writes;
    for (const ProgramEntry& entry : program) {
        const auto* write = std::get_if<RegisterWrite>(&entry);
        if (!write || write->name == "GLB.S_INTR_MASK") continue;
        const bool table = write->name.find(".S_LUT_") != std::string::npos;
        if (table && !with_tables) continue;  // the tables are live: they are those of the first layer
        writes.push_back(*write);
        if (group != 0 && write->name.ends_with(".S_POINTER")) writes.back().value = group;
    }
    return writes;
}

class Mix {
public:
    explicit Mix(std::uint64_t seed) : random_(static_cast<std::uint32_t>(seed * 2654435761u + 99))
    {
        constexpr const char* kKinds[] = {"direct", "post", "sdp", "pool", "pooled"};
        do layer_ = LayerMaker(seed * 64 + in(0, 63), kKinds[in(0, std::size(kKinds) - 1)]).make();
        while (!fits(layer_));
        jobs_.push_back(job_of(layer_.layer, layer_.hardware, layer_.memory));
        operations_.push_back({writes_of(jobs_.back().program, 0, true), layer_.layer.pool ? reg::glb::kPdp.bit(0) : 1});
        add_lrns();
        if (layer_.hardware.bdma) add_transfer("bdma", reg::glb::kBdma.bit(0));
        if (layer_.hardware.rubik) add_transfer("rubik", reg::glb::kRubik.bit(0));
        make_program();
    }

    std::string describe() const
    {
        std::string text = fmt::format("{} {} beside", layer_.hardware.name, layer_.layer.name);
        for (std::size_t i = 1; i < jobs_.size(); ++i) text += " " + jobs_[i].text.descriptor.dump();
        return text;
    }

    /// 0: every output is right. The figures go to `report`.
    int run(bool stepping, int report) const
    {
        SimulateOptions options;
        options.stepping = stepping;
        options.drain = true;
        Machine machine(layer_.hardware, layer_.memory, options);
        for (const Job& job : jobs_)
            job.contents->before([&](const Place& place, std::span<const std::uint8_t> bytes) { machine.write_memory(place, bytes); });
        const RunResult result = machine.run(program_);
        if (!put(report, figures(result))) return 1;
        if (result.hung) {
            fmt::print("HANG {}\n{}\n", describe(), result.diagnosis);
            std::fflush(stdout);
            return 1;
        }
        const auto read = [&](const Place& place, std::uint64_t bytes) { return machine.read_memory(place, bytes); };
        Comparison all;
        for (const Job& job : jobs_) {
            const Comparison one = job.contents->after({read}).comparison;
            all.mismatches += one.mismatches;
            all.examples.insert(all.examples.end(), one.examples.begin(), one.examples.end());
        }
        if (!all.equal()) fmt::print("WRONG {} differ; {}; {}\n", all.mismatches, all.examples[0], describe());
        std::fflush(stdout);
        return all.equal() ? 0 : 1;
    }

private:
    std::uint32_t in(std::uint32_t low, std::uint32_t high) { return static_cast<std::uint32_t>(low + random_() % (high - low + 1)); }

    /// One pass that ends with its interrupt.
    static bool fits(const RandomLayer& r)
    {
        if (r.layer.post.compares()) return false;
        const Program program = layer_program(r.layer, plan_shape(r.layer, r.hardware), r.hardware);
        const auto waits =
            std::count_if(program.begin(), program.end(), [](const ProgramEntry& e) { return std::holds_alternative<WaitInterrupt>(e); });
        return waits == 1 && std::holds_alternative<WaitInterrupt>(program.back());
    }

    void add(const Transfer& transfer, unsigned group, bool with_tables, std::uint32_t done)
    {
        jobs_.push_back(job_of(transfer, layer_.hardware, layer_.memory));
        operations_.push_back({writes_of(jobs_.back().program, group, with_tables), done});
    }

    /// All of one function, since they share the tables.
    void add_lrns()
    {
        const std::uint32_t count = in(1, 3);
        Lrn lrn;
        lrn.size = 3 + 2 * in(0, 3);
        lrn.input_scale = lrn.output_scale = 1.2;
        if (layer_.hardware.full() && in(0, 1)) lrn.precision = Precision::Int16;
        for (std::uint32_t i = 0; i < count; ++i) {
            lrn.width = in(1, 24);
            lrn.height = in(1, 6);
            lrn.channels = in(1, 80);
            lrn.input.address = Address{0x40000000 + 0x1000000 * i};
            lrn.output.address = Address{0x50000000 + 0x1000000 * i};
            Transfer transfer;
            transfer.name = "lrn";
            transfer.seed = random_();
            transfer.what = lrn;
            add(transfer, i % 2, i == 0, reg::glb::kCdp.bit(i % 2));
        }
    }

    void add_transfer(const std::string& unit, std::uint32_t done)
    {
        const std::uint32_t bytes = 32 * in(1, 40), lines = in(1, 20);
        const std::string text =
            unit == "bdma"
                ? fmt::format(R"({{"op": "bdma", "blocks": [{{"source": {}, "destination": {}, "line_bytes": {}, "lines": {}}}]}})",
                              0x60000000, 0x61000000, bytes, lines)
                : fmt::format(R"({{"op": "rubik", "rubik": {{"mode": "{}"}}, "input": {{"width": {}, "height": {}, "channels": {}}},
                                                       "placement": {{"input": {}, "output": {}}}}})",
                              in(0, 1) ? "split" : "merge", in(1, 70), in(1, 5), in(1, 70), 0x62000000, 0x63000000);
        add(transfer_from_json(parse_json(text, unit), unit, "", ""), 0, true, done);
    }

    /// The operations in a random order, but for the LRN layers among each other; the third waits for the first.
    void make_program()
    {
        ProgramWriter writer(layer_.hardware, program_);
        std::vector<std::size_t> order(operations_.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::shuffle(order.begin(), order.end(), random_);
        constexpr std::uint32_t kFirst = reg::glb::kCdp.bit(0), kLrns = reg::glb::kCdp.bits();
        std::vector<std::size_t> lrns;
        for (const std::size_t part : order)
            if (operations_[part].done & kLrns) lrns.push_back(part);
        std::sort(lrns.begin(), lrns.end());
        std::uint32_t bits = 0;
        for (const Operation& part : operations_) bits |= part.done;
        writer.poll("CDMA.S_CBUF_FLUSH_STATUS", 1);
        writer.write("GLB.S_INTR_MASK", 0x3fffff & ~bits);
        std::size_t next_lrn = 0;
        for (std::size_t part : order) {
            if (operations_[part].done & kLrns) part = lrns[next_lrn++];
            if (next_lrn == 3 && part == lrns[2]) writer.add(WaitStatus{kFirst});
            for (const RegisterWrite& write : operations_[part].writes) writer.add(write);
        }
        writer.add(MarkT0{});
        writer.add(WaitStatus{bits});
    }

    std::mt19937 random_;
    RandomLayer layer_;
    std::vector<Job> jobs_;  // the layer first
    std::vector<Operation> operations_;
    Program program_;
};

}  // namespace random_mixes_law

int random_mixes(int, char** argv)
{
    using namespace random_mixes_law;
    const std::uint64_t first = std::strtoull(argv[1], nullptr, 10), count = std::strtoull(argv[2], nullptr, 10);
    std::uint64_t failed = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const Mix mix(seed);
        const std::string what = fmt::format("seed {} {}", seed, mix.describe());
        const auto run = [&](bool stepping) { return run_apart(what, [&](int report) { return mix.run(stepping, report); }); };
        const std::string skipping = run(false), stepping = run(true);
        const bool good = !skipping.empty() && skipping == stepping;
        if (!good) fmt::print("FAILED {}\n  skipping  {}\n  stepping {}\n", what, skipping, stepping);
        failed += !good;
    }
    fmt::print("{} mixes, {} verified, {} not\n", count, count - failed, failed);
    return failed == 0 ? 0 : 1;
}

}  // namespace dlasim
