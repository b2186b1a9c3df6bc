#include "lint/layer_ends.h"

#include <algorithm>
#include <array>
#include <deque>
#include <string_view>

#include "facts/cacc.h"
#include "lint/programmed.h"
#include "registers/fields/csc.h"
#include "registers/fields/groups.h"
#include "registers/fields/pdp.h"
#include "registers/fields/sdp.h"
#include "registers/interrupts.h"

namespace dlasim::lint {
namespace {

/// A unit with two groups, as the program has set it.
struct GroupedUnit {
    const UnitRegisters& table;
    std::array<RegisterGroup, 2> groups;
    unsigned producer = 0;

    GroupedUnit(const Hardware& hardware, std::string_view name)
        : table(*find_unit(hardware, name)), groups{RegisterGroup(table), RegisterGroup(table)}
    {
    }
    std::uint32_t get(reg::Field field) const { return groups[producer].get(field); }
    /// True: it enables the group.
    bool take(const RegisterWrite& write, std::size_t entry)
    {
        if (!table.has(write.address)) return false;
        const std::uint32_t offset = write.address % UnitRegisters::kWindow;
        if (offset == reg::groups::S_POINTER) producer = reg::groups::S_POINTER::PRODUCER.get(write.value);
        else if (offset == table.group_start) return reg::groups::D_OP_ENABLE::OP_EN.get(write.value) != 0;
        else if (table.grouped(offset)) groups[producer].set(offset, write.value, entry);
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
        if (csc_.take(write, entry)) enable_csc(entry);
        if (sdp_.take(write, entry)) {
            using namespace reg::sdp;
            const bool flying = sdp_.get(D_FEATURE_MODE_CFG::FLYING_MODE) != 0;
            if (flying && sdp_.get(D_FEATURE_MODE_CFG::OUTPUT_DST)) handed_over_.push_back(taken_ + 1);
            sdp_runs_.push_back({sdp_.producer, flying ? ++taken_ : 0});
        }
        if (pdp_.take(write, entry))
            pdp_runs_.push_back({pdp_.producer, pdp_.get(reg::pdp::D_OPERATION_MODE_CFG::FLYING_MODE) ? 0 : ++pooled_});
    }

    void enable_csc(std::size_t entry)
    {
        using namespace reg::csc;
        const std::uint64_t group = hw_.kernel_group(Precision::Int8);
        const std::uint64_t places = csc_.get(D_DATAIN_FORMAT::DATAIN_FORMAT) ? (csc_.get(D_DATAOUT_SIZE_0::DATAOUT_WIDTH) + 1ull) *
                                                                                    (csc_.get(D_DATAOUT_SIZE_0::DATAOUT_HEIGHT) + 1ull)
                                                                              : csc_.get(D_ATOMICS::ATOMICS) + 1ull;
        const std::uint64_t results = places * (csc_.get(D_WEIGHT_SIZE_EXT_1::WEIGHT_KERNEL) / group + 1);
        const facts::cacc::Facts cacc = facts::cacc::of(hw_);
        if (left_ < started_ && cacc.ends_may_meet(results)) early_.push_back({started_, entry, results, cacc.entries});
        ++started_;
    }

    /// Of "SDP_0".
    static std::uint32_t bits_of(std::string_view interrupt)
    {
        for (const reg::glb::Interrupt* each : reg::glb::kInterrupts)
            if (interrupt.substr(0, interrupt.rfind('_')) == each->unit) return each->bit(interrupt.ends_with("_1") ? 1 : 0);
        return 0;
    }

    /// These interrupts have come.
    void ended(std::uint32_t bits)
    {
        for (unsigned group = 0; group < 2; ++group) {
            if (bits & reg::glb::kSdp.bit(group)) left(first_of(sdp_runs_, group));
            if (bits & reg::glb::kPdp.bit(group)) {
                const std::size_t pooled = first_of(pdp_runs_, group);
                left(pooled == 0 || pooled > handed_over_.size() ? 0 : handed_over_[pooled - 1]);
            }
            if ((bits & reg::glb::kCacc.bit(group)) && left_ < started_ && left_ % 2 == group) left(left_ + 1);
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

    /// What took their sums has ended too, whether or not its interrupt is waited for: that of a PDP behind it may stand for both.
    void left(std::size_t layers)
    {
        left_ = std::max(left_, layers);
        while (!sdp_runs_.empty() && sdp_runs_.front().layer != 0 && sdp_runs_.front().layer <= left_) sdp_runs_.pop_front();
    }

    void read(std::uint32_t address, std::uint32_t mask, std::uint32_t expected)
    {
        if (address == glb_ + reg::glb::S_INTR_STATUS) ended(mask & expected);
        if (address != sdp_.table.base + reg::groups::S_STATUS) return;
        const std::array status{reg::groups::S_STATUS::STATUS_0, reg::groups::S_STATUS::STATUS_1};
        for (unsigned group = 0; group < 2; ++group)
            if (status[group].get(mask) == status[group].most() && status[group].get(expected) == 0) left(first_of(sdp_runs_, group));
    }

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

}  // namespace dlasim::lint
