#include "platform/layer_ends.h"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <string_view>

#include "facts/cacc.h"
#include "facts/pdp.h"
#include "facts/sdp.h"
#include "registers/fields/csc.h"
#include "registers/fields/glb.h"
#include "registers/fields/groups.h"
#include "registers/fields/pdp.h"
#include "registers/fields/sdp.h"
#include "registers/tables.h"

namespace dlasim {
namespace {

/// A unit with two groups, as the program has set it.
struct GroupedUnit {
    std::uint32_t base = 0, enable = 0;
    unsigned producer = 0;
    std::array<std::map<std::uint32_t, std::uint32_t>, 2> values{};

    GroupedUnit(const Hardware& hardware, std::string_view name)
    {
        const UnitRegisters& unit = *find_unit(hardware, name);
        base = unit.base;
        enable = unit.group_start;
    }
    std::uint32_t get(reg::Field field) const
    {
        const auto found = values[producer].find(field.offset);
        return found == values[producer].end() ? 0 : field.get(found->second);
    }
    std::uint32_t get(reg::Register at) const
    {
        const auto found = values[producer].find(at.offset);
        return found == values[producer].end() ? 0 : found->second;
    }
    /// True: it enables the group.
    bool take(const RegisterWrite& write)
    {
        if (write.address < base || write.address >= base + 0x1000) return false;
        const std::uint32_t offset = write.address - base;
        if (offset == reg::groups::S_POINTER) producer = reg::groups::S_POINTER::PRODUCER.get(write.value);
        else if (offset != enable) values[producer][offset] = write.value;
        else return reg::groups::D_OP_ENABLE::OP_EN.get(write.value) != 0;
        return false;
    }
};

class EndWalk {
public:
    explicit EndWalk(const Hardware& hardware)
        : hw_(hardware), csc_(hardware, "CSC"), sdp_(hardware, "SDP"), pdp_(hardware, "PDP"), glb_(find_unit(hardware, "GLB")->base)
    {
    }

    std::vector<EarlyLayer> walk(const Program& program)
    {
        for (std::size_t entry = 0; entry < program.size(); ++entry) {
            if (const auto* write = std::get_if<RegisterWrite>(&program[entry])) take(*write, entry);
            else if (const auto* pin = std::get_if<WaitInterrupt>(&program[entry])) ended(bits_of(pin->name));
            else if (const auto* status = std::get_if<WaitStatus>(&program[entry])) ended(status->bits);
            else if (const auto* poll = std::get_if<PollRegister>(&program[entry])) read(poll->address, poll->mask, poll->expected);
            else if (const auto* read_ = std::get_if<RegisterRead>(&program[entry]); read_ && read_->check)
                read(read_->address, read_->mask, read_->expected);
        }
        return std::move(early_);
    }

private:
    /// A launch that has not been seen to end; `layer`: the n-th of those that take what the unit before makes, from 1, or 0.
    struct Launch {
        unsigned group = 0;
        std::size_t layer = 0;
    };
    using Launches = std::deque<Launch>;

    void take(const RegisterWrite& write, std::size_t entry)
    {
        if (write.address == glb_ + reg::glb::S_INTR_STATUS) ended(write.value);
        if (csc_.take(write)) enable_csc(entry);
        if (sdp_.take(write)) {
            using namespace reg::sdp;
            const bool flying = sdp_.get(D_FEATURE_MODE_CFG::FLYING_MODE) != 0;
            if (flying && sdp_.get(D_FEATURE_MODE_CFG::OUTPUT_DST)) handed_over_.push_back(taken_ + 1);
            sdp_runs_.push_back({sdp_.producer, flying ? ++taken_ : 0});
        }
        if (pdp_.take(write)) pdp_runs_.push_back({pdp_.producer, pdp_.get(reg::pdp::D_OPERATION_MODE_CFG::FLYING_MODE) ? 0 : ++pooled_});
    }

    void enable_csc(std::size_t entry)
    {
        using namespace reg::csc;
        const std::uint64_t group = hw_.kernel_group(Precision::Int8);
        const std::uint64_t places = csc_.get(D_DATAIN_FORMAT::DATAIN_FORMAT) ? (csc_.get(D_DATAOUT_SIZE_0::DATAOUT_WIDTH) + 1ull) *
                                                                                    (csc_.get(D_DATAOUT_SIZE_0::DATAOUT_HEIGHT) + 1ull)
                                                                              : csc_.get(D_ATOMICS) + 1ull;
        const std::uint64_t results = places * (csc_.get(D_WEIGHT_SIZE_EXT_1::WEIGHT_KERNEL) / group + 1);
        const facts::cacc::Facts cacc = facts::cacc::of(hw_);
        if (left_ < started_ && cacc.ends_may_meet(results)) early_.push_back({started_, entry, results, cacc.entries});
        ++started_;
    }

    static std::uint32_t bits_of(std::string_view interrupt)
    {
        const unsigned group = interrupt.ends_with("_1") ? 1 : 0;
        const std::string_view unit = interrupt.substr(0, interrupt.rfind('_'));
        for (const auto& [name, bit] : kEnds)
            if (unit == name) return 1u << (bit + group);
        return 0;
    }

    /// These interrupts have come.
    void ended(std::uint32_t bits)
    {
        for (unsigned group = 0; group < 2; ++group) {
            if (bits >> (facts::sdp::kInterruptBit + group) & 1) left(first_of(sdp_runs_, group));
            if (bits >> (facts::pdp::kInterruptBit + group) & 1) {
                const std::size_t pooled = first_of(pdp_runs_, group);
                left(pooled == 0 || pooled > handed_over_.size() ? 0 : handed_over_[pooled - 1]);
            }
            if (bits >> (facts::cacc::kInterruptBit + group) & 1 && left_ < started_ && left_ % 2 == group) left(left_ + 1);
        }
    }

    /// Its layer, and all before have ended too.
    static std::size_t first_of(Launches& launches, unsigned group)
    {
        const auto found = std::ranges::find(launches, group, &Launch::group);
        if (found == launches.end()) return 0;
        std::size_t layer = 0;
        for (auto launch = launches.begin(); launch <= found; ++launch) layer = std::max(layer, launch->layer);
        launches.erase(launches.begin(), found + 1);
        return layer;
    }

    void left(std::size_t layers) { left_ = std::max(left_, layers); }

    void read(std::uint32_t address, std::uint32_t mask, std::uint32_t expected)
    {
        if (address == glb_ + reg::glb::S_INTR_STATUS) ended(mask & expected);
        if (address != sdp_.base + reg::groups::S_STATUS) return;
        const std::array status{reg::groups::S_STATUS::STATUS_0, reg::groups::S_STATUS::STATUS_1};
        for (unsigned group = 0; group < 2; ++group)
            if (status[group].get(mask) == status[group].most() && status[group].get(expected) == 0) left(first_of(sdp_runs_, group));
    }

    struct End {
        std::string_view unit;
        unsigned bit;
    };
    static constexpr std::array<End, 3> kEnds{
        {{"SDP", facts::sdp::kInterruptBit}, {"PDP", facts::pdp::kInterruptBit}, {"CACC", facts::cacc::kInterruptBit}}};

    const Hardware& hw_;
    GroupedUnit csc_, sdp_, pdp_;
    const std::uint32_t glb_;
    std::size_t started_ = 0, left_ = 0;    // convolutions enabled, known to have left CACC
    std::size_t taken_ = 0, pooled_ = 0;    // SDPs that take one, PDPs that take what these hand over
    std::vector<std::size_t> handed_over_;  // by PDP: its convolution, from 1
    Launches sdp_runs_, pdp_runs_;
    std::vector<EarlyLayer> early_;
};

}  // namespace

std::vector<EarlyLayer> early_layers(const Hardware& hardware, const Program& program) { return EndWalk(hardware).walk(program); }

}  // namespace dlasim
