// BRDMA, NRDMA, ERDMA after the latency FIFO: operands from memory, one beat for each beat of features, for ALU and for MUL.
//
//   word() ─► rods of the ALU stream ─► select ─► out ─► gate of the engine (gate.h)
//         └─► rods of the MUL stream ─► select ─► out ─► gate of the engine
//
//   WordOperands (nv_full)         4 rods FIFO-R2(1) of 16 operands a stream, out PIPE
//   AtomOperands (configurable)    a collector of up to 4 atoms in front of 4 rods SKID-B of an atom a stream, out SKID-B
//
// Per element a rod is read out once; per kernel the rods of a surface stay until its last pixel. In a multi-batch layer
// of nv_full the rods of a pair of pixels are read out once for every batch; the second pixel has rods of its own.
//
// Latency  word() to the gate: 2 cycles; atom after the last of its collector to the gate: 3 cycles.
// Source   sdp.md 1.6, 2.8; open_points.md 1.
#pragma once
#include <array>
#include <cstdint>

#include "base/ring.h"
#include "elements/occupancy.h"
#include "facts/sdp.h"
#include "units/sdp/read/features.h"
#include "units/sdp/read/operand_walk.h"
#include "units/sdp/read/read_front.h"
#include "units/sdp/read/read_layer.h"

namespace dlasim::sdp {

/// What both kinds of readers have: the requests on their way, and the end of the layer.
class OperandReader {
public:
    bool uses_alu() const { return layer_.uses_alu(); }
    bool uses_mul() const { return layer_.uses_mul(); }

protected:
    explicit OperandReader(ReadFront& front) : front_(front) {}
    void start(const ReadLayer& layer);
    /// True in the cycle after the end of both streams: the done pulse follows in the next one.
    bool ends();
    /// A word of the request in front has been used; true if it was its last one.
    bool leave(Cycle at);

    ReadFront& front_;
    ReadLayer layer_;
    bool running_ = false, alu_done_ = true, mul_done_ = true;
    std::uint32_t written_ = 0;
    std::uint64_t used_ = 0;            // requests so far
    Ring<std::uint32_t> requests_{16};  // words of the requests on their way
};

/// One stream of a reader of words.
class WordOperandStream {
public:
    void start(const ReadLayer& layer);
    /// Every rod can take a word.
    bool room() const;
    bool valid() const { return out_.valid(); }
    /// The beat at the output is the last one of the layer.
    bool last() const { return out_last_; }
    /// No operand will come any more.
    bool stuck() const { return replay_.stuck(); }
    /// `out`: the beat at the output is taken. `write`: rods that take a word; `size`: last rod of its group. True when the
    /// last beat was accepted.
    bool sweep(bool out, unsigned write, unsigned size, bool& changed);

private:
    void step(bool half_ends, bool surface_ends, bool group_ends);

    OperandWalk walk_;
    PairReplay replay_;
    std::array<elements::Rod, facts::sdp::kRods> rods_{};
    Ring<std::uint8_t> groups_{16};  // the last rod of every group in the rods; of int8 all are alike
    elements::Pipe out_;
    bool out_last_ = false, per_element_ = false, int8_ = true;
    unsigned half_ = 0, rod_ = 0;  // int8: a pixel is two beats; the rod of the first one
};

class WordOperands : public OperandReader {
public:
    explicit WordOperands(ReadFront& front) : OperandReader(front) {}
    void start(const ReadLayer& layer);
    /// A request of that many atoms was made.
    void issued(std::uint32_t atoms) { requests_.push_back((atoms + 1) / 2); }
    bool stuck() const { return running_ && (alu.stuck() || mul.stuck()); }
    ReaderAnswer sweep(Cycle at, bool alu_out, bool mul_out);

    WordOperandStream alu, mul;

private:
    unsigned step_ = 0;    // half of a word, or which of two words
    bool pairs_ = false;   // pixels alternate between two pairs of rods
    std::uint32_t x_ = 0;  // of the next pixel, where they do
};

/// One stream of a reader of atoms.
class AtomOperandStream {
public:
    void start(const ReadLayer& layer);
    /// Rods 0.. can take an atom.
    bool room(unsigned rods) const;
    bool valid() const { return out_.valid(); }
    bool last() const { return left_ == 1; }
    /// `written`: rods 0.. that take an atom. True when the last beat was accepted.
    bool sweep(bool out, unsigned written, bool& changed);

private:
    bool sweep_rods(unsigned read, unsigned written);

    OperandWalk walk_;
    std::array<elements::SkidB, facts::sdp::kRods> rods_{};
    unsigned full_ = 0;              // rods that hold an atom
    bool rest_ = false;              // without a write or a read the rods stay as they are
    Ring<std::uint8_t> groups_{16};  // rods of every group in the rods
    elements::SkidB out_;
    bool per_element_ = false;
    unsigned step_ = 1, rod_ = 0;  // rods of a beat; the first one of the next beat
    std::uint64_t left_ = 0;       // beats of the layer
};

class AtomOperands : public OperandReader {
public:
    explicit AtomOperands(ReadFront& front) : OperandReader(front) {}
    void start(const ReadLayer& layer);
    void issued(std::uint32_t atoms) { requests_.push_back(atoms); }
    static bool stuck() { return false; }
    ReaderAnswer sweep(Cycle at, bool alu_out, bool mul_out);

    AtomOperandStream alu, mul;

private:
    unsigned collected_ = 0, group_ = 0;  // atoms in the collector, and waiting to be written
};

}  // namespace dlasim::sdp
