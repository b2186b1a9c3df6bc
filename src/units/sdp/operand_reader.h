// BRDMA, NRDMA, ERDMA: operands from memory, one beat for each beat of features, for ALU and for MUL.
//
//   words ─► rods of the ALU stream ─► select ─► out ─► gate of the engine
//        └─► rods of the MUL stream ─► select ─► out ─► gate of the engine
//
//   nv_full        rod FIFO-R2(1) of 16 operands, out PIPE, gate PIPE (EW: + PACK(4) + HLS(2))
//   configurable   rod SKID-B of an atom, in front of them a collector of up to 4 atoms,
//                  out SKID-B, gate PACK (EW: + 1 or 3 SKID)
//
// Per element a rod is read out once; per kernel the rods of a surface stay until its last pixel. In a
// multi-batch layer of nv_full the rods of a pair of pixels are read out once for every batch.
// A gate is open from the start of a layer to the last piece of the last beat of the stream; what its first stage holds is
// there before.
//
// Source  sdp.md 1.6, 2.8; open_points.md 1: pixels pair up from the start of a line, the second one has rods of its own.
#pragma once
#include <algorithm>
#include <array>

#include "units/sdp/mrdma.h"
#include "units/sdp/read_front.h"

namespace dlasim::sdp {

/// Where a stream is in its layer: its element beats, pixels and surfaces.
struct OperandWalk {
    std::uint64_t pixels = 0, pixel = 0;
    std::uint32_t surfaces = 0, surface = 0;
    bool on = false;
    void start(const ReadLayer& layer) { *this = {layer.pixels(), 0, layer.surfaces, 0, true}; }
    bool surface_ends() const { return pixel + 1 == pixels; }
    bool ends() const { return surface_ends() && surface + 1 == surfaces; }
    void step()
    {
        const bool last = ends();
        if (surface_ends()) {
            pixel = 0;
            ++surface;
        } else {
            ++pixel;
        }
        if (last) on = false;
    }
};

/// The replay of operands per element in a multi-batch layer: pixel by pixel of a pair, for every batch.
///
/// The collector pairs the atoms of a command, the replay the pixels of a line. Of a single pixel one command fetches
/// all surfaces, so the collector pairs surfaces; the replay ends its step behind the first of a pair, nobody takes the
/// second, and the pair is never released: the layer hangs, as in the silicon.
struct PairReplay {
    bool on = false;
    std::uint32_t width = 1, batches = 1;
    std::uint32_t collected = 1;                 // pixels in a command
    std::uint32_t x = 0, second = 0, batch = 0;  // pair, pixel of it, pass
    bool stuck = false;

    static std::uint32_t pixels_of_command(const ReadLayer& layer) { return layer.one_pixel() ? layer.surfaces : layer.width; }

    void start(const ReadLayer& layer)
    {
        *this = {layer.per_element && layer.batch > 1, layer.width, layer.batch, pixels_of_command(layer), 0, 0, 0, false};
    }
    bool last_pass() const { return batch + 1 == batches; }
    void step()
    {
        const std::uint32_t size = std::min(width - x, 2u);
        if (++second < size) return;
        second = 0;
        if (++batch < batches) return;
        batch = 0;
        stuck = size != std::min(collected - x, 2u);
        x = x + size < width ? x + size : 0;
    }
};

/// One stream of a reader in nv_full.
class FullOperandStream {
public:
    void start(const ReadLayer& layer)
    {
        walk_.start(layer);
        per_element_ = layer.per_element;
        int8_ = layer.int8();
        half_ = rod_ = 0;
        replay_.start(layer);
    }
    bool room() const
    {
        return std::all_of(rods_.begin(), rods_.end(), [](const elements::Rod& rod) { return rod.ready(); });
    }
    bool valid() const { return out_.valid(); }
    bool last() const { return out_last_; }
    bool idle() const { return !walk_.on && !out_.valid(); }
    bool stuck() const { return replay_.stuck; }
    /// `write`: rods that take a word; `size`: last rod of its group. True when the last beat was accepted.
    bool sweep(bool out, unsigned write, unsigned size, bool& changed)
    {
        if (replay_.on) rod_ = replay_.second * (int8_ ? 2 : 1);
        const unsigned select = (rod_ + half_) & 3;
        const bool offered = walk_.on && !replay_.stuck && rods_[select].valid();
        const bool half_ends = half_ == (int8_ ? 1u : 0u);
        const bool surface_ends = half_ends && walk_.surface_ends();
        const bool finished = out_.valid() && out && out_last_;
        const bool left = out_.valid() && out;
        elements::Flow flow{out};
        out_.sweep(offered, flow);
        const bool room = flow.ready;
        if (room) out_last_ = half_ends && walk_.on && walk_.ends();
        const bool accepted = offered && room;
        const bool group_ends = rod_ == (int8_ || groups_.empty() ? 0u : groups_.front());
        const bool open = walk_.on && !replay_.stuck && room;
        for (unsigned i = 0; i < facts::sdp::kRods; ++i) {
            const auto before = rods_[i];
            const bool read = open && (replay_.on     ? i == select && replay_.last_pass()
                                       : per_element_ ? i == select
                                                      : surface_ends && group_ends);
            rods_[i].clock(write >> i & 1, read);
            changed |= !(before == rods_[i]);
        }
        if (write && !int8_ && !replay_.on) groups_.push_back(static_cast<std::uint8_t>(size));
        if (accepted) {
            half_ = half_ends ? 0 : 1;
            if (replay_.on) {
                if (half_ends) replay_.step();
            } else if (per_element_ ? half_ends : surface_ends) {
                if (group_ends) {
                    rod_ = 0;
                    if (!int8_ && !groups_.empty()) groups_.pop_front();
                } else {
                    rod_ += int8_ ? 2 : 1;
                }
            }
            if (half_ends) walk_.step();
        }
        changed |= accepted || left;
        return finished;
    }

private:
    OperandWalk walk_;
    std::array<elements::Rod, facts::sdp::kRods> rods_{};
    Ring<std::uint8_t> groups_{16};
    elements::Pipe out_;
    bool out_last_ = false, per_element_ = false, int8_ = true;
    unsigned half_ = 0, rod_ = 0;
    PairReplay replay_;
};

/// One stream of a reader in the configurable generation.
class ElasticOperandStream {
public:
    void start(const ReadLayer& layer)
    {
        walk_.start(layer);
        per_element_ = layer.per_element;
        step_ = layer.operand_bytes == 1 || !layer.int8() ? 1 : 2;
        rod_ = 0;
        left_ = layer.pixels() * layer.surfaces;
    }
    bool room(unsigned rods) const
    {
        for (unsigned i = 0; i < rods; ++i)
            if (!rods_[i].ready()) return false;
        return true;
    }
    bool valid() const { return out_.valid(); }
    bool last() const { return left_ == 1; }
    bool idle() const { return left_ == 0; }
    /// `written`: rods 0.. that take an atom. True when the last beat was accepted.
    bool sweep(bool out, unsigned written, bool& changed)
    {
        if (written) groups_.push_back(static_cast<std::uint8_t>(written));
        const unsigned selected = ((1u << step_) - 1) << rod_;
        bool offered = walk_.on;
        for (unsigned i = 0; i < facts::sdp::kRods; ++i) offered = offered && (!(selected >> i & 1) || rods_[i].valid());
        const bool surface_ends = walk_.surface_ends();
        const bool left = out_.valid() && out;
        elements::Flow flow{out};
        out_.sweep(offered, flow);
        const bool accepted = flow.ready && offered;
        const bool advances = accepted && (per_element_ || surface_ends);
        for (unsigned i = 0; i < facts::sdp::kRods; ++i) {
            flow.ready = advances && (selected >> i & 1);
            rods_[i].sweep(i < written, flow);
        }
        changed |= accepted || left || flow.changed;
        if (accepted) {
            if (advances) {
                const bool group_ends = rod_ + step_ >= (groups_.empty() ? 0u : groups_.front());
                rod_ = group_ends ? 0 : rod_ + step_;
                if (group_ends && !groups_.empty()) groups_.pop_front();
            }
            walk_.step();
        }
        if (left && left_) return --left_ == 0;
        return false;
    }

private:
    OperandWalk walk_;
    std::array<elements::SkidB, facts::sdp::kRods> rods_{};
    Ring<std::uint8_t> groups_{16};
    elements::SkidB out_;
    bool per_element_ = false;
    unsigned step_ = 1, rod_ = 0;
    std::uint64_t left_ = 0;
};

/// The two streams of a reader and how its words are dealt to them.
template <bool kFull>
class OperandReader {
public:
    using Stream = std::conditional_t<kFull, FullOperandStream, ElasticOperandStream>;

    explicit OperandReader(ReadFront<kFull>& front) : front_(front) {}
    void start(const ReadLayer& layer)
    {
        layer_ = layer;
        if (!kFull || layer.uses_alu()) alu.start(layer);
        if (!kFull || layer.uses_mul()) mul.start(layer);
        alu_done_ = !layer.uses_alu();
        mul_done_ = !layer.uses_mul();
        running_ = true;
        written_ = collected_ = group_ = step_ = x_ = 0;
        pairs_ = kFull && layer.per_element && layer.batch > 1;
    }
    /// No operand will come any more.
    bool stuck() const
    {
        if constexpr (kFull) return running_ && (alu.stuck() || mul.stuck());
        else return false;
    }
    bool uses_alu() const { return layer_.uses_alu(); }
    bool uses_mul() const { return layer_.uses_mul(); }
    void issued(const ReadRequest& request) { requests_.push_back(kFull ? (request.atoms + 1) / 2 : request.atoms); }

    ReaderAnswer sweep(Cycle at, bool alu_out, bool mul_out)
    {
        ReaderAnswer answer;
        // Both streams ended a cycle ago: the done pulse follows in the next one.
        if (running_ && alu_done_ && mul_done_) {
            running_ = false;
            answer.finished = answer.changed = true;
        }
        if constexpr (kFull) sweep_full(at, alu_out, mul_out, answer);
        else sweep_elastic(at, alu_out, mul_out, answer);
        return answer;
    }

    Stream alu, mul;

private:
    void sweep_full(Cycle at, bool alu_out, bool mul_out, ReaderAnswer& answer)
    {
        const unsigned word = front_.word();
        const bool write = word && alu.room() && mul.room();
        const bool both = layer_.use == OperandUse::Both;
        bool pop = write;
        unsigned mask = (1u << word) - 1, size = word ? word - 1 : 0;
        if (!both && layer_.operand_bytes == 1) {
            mask = 3;
            size = 1;
            pop = write && (step_ == 1 || word == 1);
            if (write) step_ = pop ? 0 : 1;
        } else if (both && layer_.operand_bytes == 2) {
            mask = layer_.int8() ? 1u << (step_ & 1) : 1;
            size = 0;
            if (write) step_ ^= 1;
        }
        if (pairs_) {
            const bool second = x_ & 1;
            // All but the first half of a pixel end one; a word of 16-bit single use brings two.
            const bool pixel_ends = !(both && layer_.operand_bytes == 2 && layer_.int8() && (step_ & 1));
            if (second && (layer_.int8() || both)) mask <<= layer_.int8() ? 2 : 1;
            if (write && pixel_ends) x_ += layer_.int8() || both ? 1 : word;
            if (x_ >= PairReplay::pixels_of_command(layer_)) x_ = 0;
        }
        if (layer_.uses_alu()) alu_done_ |= alu.sweep(alu_out, write ? mask : 0, size, answer.changed);
        if (layer_.uses_mul()) mul_done_ |= mul.sweep(mul_out, write ? mask : 0, size, answer.changed);
        if (pop) leave(at);
        answer.changed |= front_.sweep_words(at, pop) || write;
    }
    void sweep_elastic(Cycle at, bool alu_out, bool mul_out, ReaderAnswer& answer)
    {
        const bool both = layer_.use == OperandUse::Both;
        const unsigned rods = both ? (group_ + 1) / 2 : group_;
        const bool write = group_ && (!layer_.uses_alu() || alu.room(rods)) && (!layer_.uses_mul() || mul.room(rods));
        if (layer_.uses_alu()) alu_done_ |= alu.sweep(alu_out, write ? rods : 0, answer.changed);
        if (layer_.uses_mul()) mul_done_ |= mul.sweep(mul_out, write ? rods : 0, answer.changed);
        const bool pop = front_.word() && (!group_ || write);
        if (write) group_ = 0;
        if (pop) {
            ++collected_;
            if (leave(at) || collected_ == 4) {
                group_ = collected_;
                collected_ = 0;
            }
        }
        answer.changed |= front_.sweep_words(at, pop) || write;
    }
    /// A word of the request in front has been used; true if it was its last one.
    bool leave(Cycle at)
    {
        if (++written_ != requests_.front()) return false;
        written_ = step_ = 0;
        requests_.pop_front();
        front_.context_done(at);
        return true;
    }

    ReadFront<kFull>& front_;
    ReadLayer layer_;
    bool running_ = false, alu_done_ = true, mul_done_ = true;
    unsigned step_ = 0;                   // full: half of a word, or which of two words
    unsigned collected_ = 0, group_ = 0;  // configurable: atoms in the collector, and waiting to be written
    std::uint32_t written_ = 0;
    bool pairs_ = false;                // full: pixels alternate between two pairs of rods
    std::uint32_t x_ = 0;               // of the next pixel, where they do
    Ring<std::uint32_t> requests_{16};  // words of the requests on their way
};

/// The entry of an engine for one operand stream.
class FullGate {
public:
    explicit FullGate(bool ew, std::uint32_t) : ew_(ew) { pack_.ratio = 4; }
    void start(bool open, bool) { open_ = open; }
    bool valid() const { return ew_ ? convert_.valid() : pipe_.valid() && open_; }
    /// `flow`: from the engine's operand port to the reader.
    void sweep(bool in, bool last, elements::Flow& flow)
    {
        const bool was_valid = pipe_.valid();
        if (ew_) {
            convert_.sweep(pack_.valid(), flow);
            pack_.sweep(was_valid && open_, flow);
        }
        const bool taken = open_ && flow.ready && was_valid, ends = taken && last_;
        flow.ready = open_ && flow.ready;
        pipe_.sweep(in, flow);
        if (flow.ready) last_ = last;
        if (ends) open_ = false;
        flow.changed |= taken || (in && flow.ready);
    }

private:
    bool ew_, open_ = false, last_ = false;
    elements::Pipe pipe_;
    elements::Pack pack_;
    elements::Rigid<facts::sdp::kRigidEwOperand> convert_;
};

class ElasticGate {
public:
    ElasticGate(bool ew, std::uint32_t ratio) : ew_(ew) { pack_.ratio = static_cast<std::uint8_t>(ratio); }
    void start(bool open, bool convert)
    {
        open_ = open;
        depth_ = !ew_ ? 0 : convert ? facts::sdp::kElasticEwOperand : facts::sdp::kElasticEwOperandBypass;
    }
    bool valid() const { return depth_ ? convert_[depth_ - 1].valid() : offers(); }
    void sweep(bool in, bool last, elements::Flow& flow)
    {
        const bool offered = offers();
        for (unsigned i = depth_; i-- > 0;) convert_[i].sweep(i ? convert_[i - 1].valid() : offered, flow);
        flow.ready = flow.ready && open_;
        const bool ends = offered && flow.ready && last_ && pack_.at_last_piece();
        pack_.sweep(in, flow);
        if (in && flow.ready) {
            flow.changed = true;
            last_ = last;
        }
        if (ends) open_ = false;
    }

private:
    /// The enable is behind the packer: a word of a later layer waits inside.
    bool offers() const { return pack_.valid() && open_; }

    bool ew_, open_ = false, last_ = false;
    unsigned depth_ = 0;
    elements::Pack pack_;
    std::array<elements::Skid, facts::sdp::kElasticEwOperand> convert_{};
};

}  // namespace dlasim::sdp
