#include "units/cdp/pipeline.h"

#include <array>

#include "elements/chain.h"
#include "elements/occupancy.h"
#include "units/cdp/channel_buffer.h"

namespace dlasim::cdp {
namespace {

using elements::Beside;
using elements::Chain;
using elements::Either;
using elements::Flow;
using elements::Pipe;
using elements::PipeRow;
using elements::Places;
using elements::Rigid;
using elements::Row;
using elements::Skid;
using elements::SkidB;
using elements::SkidRow;

/// The configurable generation: elastic stages, int8.
struct ElasticParts {
    using Stage = SkidB;
    using In = Beside<SkidRow<3>, Row<SkidB, 3>>;  // data beside information
    using Out = Beside<SkidRow<4>, Row<SkidB, 4>>;
    using Sum = Chain<PipeRow<4>, SkidB>;
    using Index = PipeRow<4>;
    using Table = Chain<Pipe, SkidB>;
    using Interpolator = PipeRow<3>;
    using Multiplier = Pipe;
    static constexpr unsigned kFlagFifo = facts::cdp::kFlagFifo;
};

/// n squares are added up by (n - 1) / 2 adders and a last one, in series; the sums of a smaller
/// window leave the row earlier.
struct FloatSum {
    static constexpr unsigned kMaxAdders = 4;
    using Adder = Beside<Rigid<4>, PipeRow<4>>;
    Chain<Pipe, Rigid<1>, Rigid<3>> square;
    std::array<Adder, kMaxAdders> adders{};
    unsigned used = 1;
    Chain<Rigid<4>, Skid> last;

    bool valid() const { return last.valid(); }
    bool ready(bool out) const
    {
        out = last.ready(out);
        for (unsigned i = used; i > 0; --i) out = adders[i - 1].ready(out);
        return square.ready(out);
    }
    void sweep(bool in, Flow& flow)
    {
        last.sweep(adders[used - 1].valid(), flow);
        for (unsigned i = used - 1; i > 0; --i) adders[i].sweep(adders[i - 1].valid(), flow);
        adders[0].sweep(square.valid(), flow);
        square.sweep(in, flow);
    }
};

/// nv_full: rigid converters, and pipes for integers and for fp16.
struct FullParts {
    using Stage = Skid;
    using In = Beside<Rigid<3>, PipeRow<3>>;
    using Out = Beside<Rigid<4>, PipeRow<4>>;
    using Sum = Either<Chain<PipeRow<4>, Skid>, FloatSum>;
    using Index = Either<PipeRow<4>, Chain<Rigid<4>, PipeRow<2>>>;
    using Table = Either<Chain<Pipe, Skid>, Chain<Pipe, Beside<Rigid<1>, PipeRow<1>>, Skid>>;
    using FloatInterpolator = Chain<Beside<Chain<Rigid<4>, Rigid<3>>, PipeRow<7>>, Beside<Rigid<3>, PipeRow<3>>, Rigid<4>>;
    using Interpolator = Either<PipeRow<3>, FloatInterpolator>;
    using Multiplier = Either<Pipe, Rigid<3>>;
    static constexpr unsigned kFlagFifo = facts::cdp::kFullFlagFifo;
};

template <class Parts>
class PartsPipeline final : public Pipeline {
public:
    explicit PartsPipeline(const facts::cdp::Facts& silicon) : buffer_(silicon) {}

    void start(const numerics::CdpConfig& config) override
    {
        sum_bypass_ = config.sum_bypass;
        multiply_bypass_ = config.multiply_bypass;
        open_ = true;
        if constexpr (requires { sum_.second; }) {
            is_float_ = config.precision == Precision::Fp16;
            sum_.second = index_.second = table_.second = interpolator_.second = multiplier_.second = is_float_;
            sum_.b.used = config.window / 2;
        }
    }
    void begin(const Cube& cube) override { buffer_.start(cube); }
    bool open() const override { return open_; }

    Answer cycle(bool in, bool last, bool out_ready) override
    {
        Answer answer;
        Flow flow{};
        const bool multiplied = back(out_ready, flow, answer);
        const bool interpolated = middle(multiplied, flow);
        front(interpolated, in, flow, answer);
        answer.changed = flow.changed || answer.accepted || answer.delivered;
        if (answer.accepted && last) open_ = false;
        return answer;
    }

private:
    using Stage = typename Parts::Stage;

    /// From the write DMA to the multiplier. Returns the ready for the interpolator's output.
    bool back(bool out_ready, Flow& flow, Answer& answer)
    {
        const bool multiplied = multiplier_out_.valid(), informed = info_.valid();
        answer.offers = out_.valid();
        answer.delivered = answer.offers && out_ready;
        flow.ready = out_ready;
        out_.sweep(informed && multiplied, flow);
        const bool ready = flow.ready;
        info_take_ = ready && multiplied;

        const bool x = x_.valid(), looked_up = interpolated_.valid(), product = multiplier_.valid();
        flow.ready = ready && informed;
        multiplier_out_.sweep(multiply_bypass_ ? x && looked_up : product, flow);
        if (!multiply_bypass_) multiplier_.sweep(x && looked_up, flow);
        x_take_ = flow.ready && looked_up;
        return flow.ready && x;
    }

    /// Interpolator, table and index. Returns the ready for what is looked up.
    bool middle(bool out_ready, Flow& flow)
    {
        const bool value = interpolator_.valid(), flag = flags_.valid();
        flow.ready = out_ready;
        interpolated_.sweep(value && flag, flow);
        const bool joined = flow.ready, has_sum = sums_.valid(), has_entry = table_.valid(), flag_room = flags_.ready();

        flow.ready = joined && flag;
        const bool interpolator_ready = ready_of(interpolator_, flow.ready);
        interpolator_.sweep(has_sum && has_entry && flag_room, flow);
        Flow flags{joined && value};
        flags_.sweep(has_sum && has_entry && interpolator_ready, flags);
        flow.changed |= flags.changed;

        const bool takes = interpolator_ready && flag_room;
        sum_take_ = takes && has_entry;
        flow.ready = takes && has_sum;
        table_.sweep(index_.valid(), flow);
        index_out_ready_ = flow.ready;
        return ready_of(index_, flow.ready) && sums_.ready();
    }

    /// From what is looked up back to the gate.
    void front(bool look_up_ready, bool in, Flow& flow, Answer& answer)
    {
        const bool converted = in_.valid();
        const bool synced = ready_of(x_stage_, x_.ready()) && ready_of(info_stage_, info_.ready());

        // Who feeds the index: the sum, or x itself.
        bool feeds, branch_ready;
        if (sum_bypass_ && !is_float_) {
            feeds = converted && synced;
            branch_ready = look_up_ready;
        } else if (sum_bypass_) {
            feeds = widen_.valid();
            branch_ready = widen_.ready();
            flow.ready = look_up_ready;
            widen_.sweep(converted && synced, flow);
        } else {
            feeds = sum_.valid();
            flow.ready = look_up_ready;
            sum_.sweep(buffer_.valid(), flow);
            branch_ready = buffer_.ready();
            buffer_.sweep(converted && synced, flow);
        }
        look_up(feeds, flow);

        // The fork after IN.
        const bool forks = converted && branch_ready;
        const bool x_ready = ready_of(x_stage_, x_.ready()), info_ready = ready_of(info_stage_, info_.ready());
        fifo(x_, x_stage_, x_take_, forks && info_ready, flow);
        fifo(info_, info_stage_, info_take_, forks && x_ready, flow);
        flow.ready = branch_ready && synced;
        in_.sweep(gate_.valid(), flow);

        const bool room = gate_.ready(flow.ready);
        answer.ready = room && open_;
        answer.accepted = in && answer.ready;
        gate_.sweep(in && open_, flow);
    }

    /// What is looked up enters the index and waits beside it.
    void look_up(bool feeds, Flow& flow)
    {
        const bool index_ready = ready_of(index_, index_out_ready_), sum_room = sums_.ready();
        Flow index{index_out_ready_}, sums{sum_take_};
        index_.sweep(feeds && sum_room, index);
        sums_.sweep(feeds && index_ready, sums);
        flow.changed |= index.changed || sums.changed;
    }

    /// A PIPE and the FIFO after it.
    template <class Fifo>
    static void fifo(Fifo& fifo, Pipe& stage, bool take, bool in, Flow& flow)
    {
        flow.ready = take;
        fifo.sweep(stage.valid(), flow);
        stage.sweep(in, flow);
    }

    bool open_ = false, sum_bypass_ = false, multiply_bypass_ = false, is_float_ = false;
    Pipe gate_;
    typename Parts::In in_;
    Pipe x_stage_, info_stage_;
    Places<facts::cdp::kSyncFifo + 1> x_, info_;
    ChannelBuffer buffer_;
    typename Parts::Sum sum_;
    Rigid<1> widen_;  // fp17 to fp32, where x itself is looked up
    Places<facts::cdp::kSumFifo + 1> sums_;
    typename Parts::Index index_;
    typename Parts::Table table_;
    typename Parts::Interpolator interpolator_;
    Places<Parts::kFlagFifo + 1> flags_;
    Chain<Pipe, Stage> interpolated_;
    typename Parts::Multiplier multiplier_;
    Stage multiplier_out_;
    typename Parts::Out out_;
    // Computed by downstream stages, used by upstream ones, within one cycle.
    bool info_take_ = false, x_take_ = false, sum_take_ = false, index_out_ready_ = false;
};

}  // namespace

std::unique_ptr<Pipeline> Pipeline::make(const facts::cdp::Facts& silicon)
{
    if (silicon.floating) return std::make_unique<PartsPipeline<FullParts>>(silicon);
    return std::make_unique<PartsPipeline<ElasticParts>>(silicon);
}

}  // namespace dlasim::cdp
