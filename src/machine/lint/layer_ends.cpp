#include "lint/layer_ends.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>

#include "facts/cacc.h"
#include "registers/fields/csc.h"
#include "registers/fields/groups.h"
#include "registers/fields/pdp.h"
#include "registers/fields/sdp.h"
#include "registers/interrupts.h"
#include "workload/programmed.h"

namespace dlasim::lint {
namespace {

/// Launches of a unit, in the order in which it runs them: its groups take turns, whichever is enabled first.
template <class Launch>
class Turns {
public:
    template <class Run>
    void enable(unsigned group, Launch launch, const Run& run)
    {
        waiting_[group] = std::move(launch);
        for (; waiting_[next_]; next_ ^= 1) {
            run(*waiting_[next_], next_);
            waiting_[next_].reset();
        }
    }

private:
    std::array<std::optional<Launch>, 2> waiting_;
    unsigned next_ = 0;
};

class EndWalk {
public:
    explicit EndWalk(const Hardware& hardware)
        : hw_(hardware),
          csc_(*find_unit(hardware, "CSC")),
          sdp_(*find_unit(hardware, "SDP")),
          pdp_(*find_unit(hardware, "PDP")),
          glb_(find_unit(hardware, "GLB")->base)
    {
    }

    std::vector<EarlyLayer> walk(const Program& program)
    {
        for (std::size_t entry = 0; entry < program.size(); ++entry) {
            if (const auto* write = std::get_if<RegisterWrite>(&program[entry])) take(*write, entry);
            else if (const auto* pin = std::get_if<WaitInterrupt>(&program[entry])) ended(reg::glb::interrupt_bit(pin->name));
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

    struct Convolution {
        std::size_t number = 0, entry = 0;  // in the order of enables; of the program: the enable of CSC
        std::uint64_t results = 0;
    };
    /// What SDP takes from CACC, and hands over to PDP.
    struct Taken {
        bool flying = false, hands_over = false;
    };

    static bool launches(ProgrammedUnit& unit, const RegisterWrite& write, std::size_t entry)
    {
        return unit.take(write, entry) == ProgrammedUnit::Effect::Launch;
    }

    void take(const RegisterWrite& write, std::size_t entry)
    {
        if (write.address == glb_ + reg::glb::S_INTR_STATUS) ended(write.value);
        if (launches(csc_, write, entry))
            convolutions_.enable(csc_.producer(), {enabled_++, entry, results()}, [this](const Convolution& c, unsigned) { start(c); });
        if (launches(sdp_, write, entry)) {
            using namespace reg::sdp;
            const RegisterGroup& group = sdp_.group();
            sdps_.enable(sdp_.producer(), {group.get(D_FEATURE_MODE_CFG::FLYING_MODE) != 0, group.get(D_FEATURE_MODE_CFG::OUTPUT_DST) != 0},
                         [this](const Taken& taken, unsigned of) {
                             if (taken.flying && taken.hands_over) handed_over_.push_back(taken_ + 1);
                             sdp_runs_.push_back({of, taken.flying ? ++taken_ : 0});
                         });
        }
        if (launches(pdp_, write, entry))
            pdps_.enable(pdp_.producer(), pdp_.group().get(reg::pdp::D_OPERATION_MODE_CFG::FLYING_MODE) == 0,
                         [this](bool flying, unsigned of) {
                             pdp_runs_.push_back({of, flying ? ++pooled_ : 0});
                         });
    }

    /// Entries of the delivery buffer that the layer in CSC's registers fills.
    std::uint64_t results() const
    {
        using namespace reg::csc;
        const std::uint64_t group = hw_.kernel_group(Precision::Int8);
        const std::uint64_t places =
            csc_.group().get(D_DATAIN_FORMAT::DATAIN_FORMAT)
                ? (csc_.group().get(D_DATAOUT_SIZE_0::DATAOUT_WIDTH) + 1ull) * (csc_.group().get(D_DATAOUT_SIZE_0::DATAOUT_HEIGHT) + 1ull)
                : csc_.group().get(D_ATOMICS::ATOMICS) + 1ull;
        return places * (csc_.group().get(D_WEIGHT_SIZE_EXT_1::WEIGHT_KERNEL) / group + 1);
    }
    void start(const Convolution& convolution)
    {
        const facts::cacc::Facts cacc = facts::cacc::of(hw_);
        if (left_ < started_ && cacc.ends_may_meet(convolution.results))
            early_.push_back({convolution.number, convolution.entry, convolution.results, cacc.entries});
        ++started_;
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

    /// What took their sums has ended too, whether or not its interrupt is waited for: that of a downstream PDP may cover both.
    void left(std::size_t layers)
    {
        left_ = std::max(left_, layers);
        while (!sdp_runs_.empty() && sdp_runs_.front().layer != 0 && sdp_runs_.front().layer <= left_) sdp_runs_.pop_front();
    }

    void read(std::uint32_t address, std::uint32_t mask, std::uint32_t expected)
    {
        if (address == glb_ + reg::glb::S_INTR_STATUS) ended(mask & expected);
        if (address != sdp_.registers().base + reg::groups::S_STATUS) return;
        const std::array status{reg::groups::S_STATUS::STATUS_0, reg::groups::S_STATUS::STATUS_1};
        for (unsigned group = 0; group < 2; ++group)
            if (status[group].get(mask) == status[group].max_value() && status[group].get(expected) == 0) left(first_of(sdp_runs_, group));
    }

    const Hardware& hw_;
    ProgrammedUnit csc_, sdp_, pdp_;
    const std::uint32_t glb_;
    Turns<Convolution> convolutions_;
    Turns<Taken> sdps_;
    Turns<bool> pdps_;                                  // on the fly
    std::size_t enabled_ = 0, started_ = 0, left_ = 0;  // convolutions enabled, in their turn too, known to have left CACC
    std::size_t taken_ = 0, pooled_ = 0;                // SDPs that take one, PDPs that take what these hand over
    std::vector<std::size_t> handed_over_;              // by PDP: its convolution, from 1
    Launches sdp_runs_, pdp_runs_;
    std::vector<EarlyLayer> early_;
};

}  // namespace

std::vector<EarlyLayer> early_layers(const Hardware& hardware, const Program& program) { return EndWalk(hardware).walk(program); }

}  // namespace dlasim::lint
