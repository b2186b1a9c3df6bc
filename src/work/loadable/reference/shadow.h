// Memory as it must be while a loadable runs: filled as the machine's; what an operation has written is
// taken over when it has been judged. So each operation is judged by what the machine gave it.
//
// Shapes  features [n][c][h][w]; weights [kernels][channels][rows][columns]; an int8, an int16 or the bits of an fp16.
// Source  programming.md 3 to 5, sdp.md 1.6.2, loadable.md 6.
// Error   Unchecked where the reference has no answer; memory itself is checked by the plan.
#pragma once
#include <array>
#include <span>
#include <string>

#include "config/model/tensors.h"
#include "loadable/plan.h"
#include "memory/memory_store.h"

namespace dlasim::loadable {

/// What the reference cannot compute, in words. What breaks a rule of software leaves the machine in a state that nothing describes:
/// later operations cannot be computed either.
struct Unchecked {
    std::string why;
    bool breaks_rule = false;
};

class Shadow {
public:
    void write(const Place& to, std::span<const std::uint8_t> bytes) { store(to).write(to.address.byte(), bytes.data(), bytes.size()); }
    void read(const Place& from, std::span<std::uint8_t> bytes) const { store(from).read(from.address.byte(), bytes.data(), bytes.size()); }
    std::vector<std::uint8_t> bytes(const Place& from, std::uint64_t count) const;

private:
    MemoryStore& store(const Place& of) { return stores_[of.primary ? 0 : 1]; }
    const MemoryStore& store(const Place& of) const { return stores_[of.primary ? 0 : 1]; }

    std::array<MemoryStore, 2> stores_;
};

/// Features as a program describes them to the machine.
struct Features {
    Place place;
    std::uint32_t n = 1, c = 1, h = 1, w = 1;
    Strides strides{};
    std::uint32_t atom_bytes = 32, element_bytes = 1;

    /// Of the atom with element (n, c, y, 0), and of the element in it.
    std::uint64_t line(std::uint32_t in, std::uint32_t ic, std::uint32_t y) const
    {
        return in * strides.batch + ic / per_atom() * strides.surface + y * strides.line;
    }
    std::uint32_t inside(std::uint32_t ic) const { return ic % per_atom() * element_bytes; }
    std::uint32_t per_atom() const { return atom_bytes / element_bytes; }
};
/// Unchecked if there are more elements than a comparison is worth.
void check_size(std::uint64_t n, std::uint64_t c, std::uint64_t h, std::uint64_t w);
/// No two lines of them share a byte.
bool apart(const std::vector<Features>& cubes);
/// A line of one shares a byte with a line of the other. pre: the cubes of each are alike
bool meet(const std::vector<Features>& one, const Features& other);
/// `read` fills bytes from an address of the features' memory on.
using ReadLine = std::function<void(const Place& from, std::span<std::uint8_t> bytes)>;
Tensor features(const Features& of, const ReadLine& read);
/// Copies the atoms of the features.
void take_over(Shadow& shadow, const Features& of, const ReadLine& read);

/// Planes of one channel each, plane_stride bytes apart.
Tensor planes(const Shadow& shadow, const Features& of, std::uint64_t plane_stride);

/// Pixels of a format, [1][components][h][w].
struct Pixels {
    const PixelFormat* format = nullptr;
    Place place;
    std::uint32_t w = 1, h = 1;
    std::uint64_t line_stride = 0;
    std::uint64_t second_plane = 0, second_line_stride = 0;  // from plane 1 on, and in plane 2
};
Tensor pixels(const Shadow& shadow, const Pixels& of);

/// Kernels in the order of the array: groups, slices of channels, rows, columns; of pixels a row is columns x components and up to four
/// rows are adjacent.
struct Weights {
    Place place;
    std::uint64_t bytes = 0;
    std::uint32_t kernels = 1, channels = 1, rows = 1, columns = 1;
    std::uint32_t element_bytes = 1, group = 16, slice = 64;
    bool image = false;
    std::uint32_t rows_together = 1;
    bool compressed = false;  // one bit an element says whether it is there
    Place mask;
    std::uint64_t mask_bytes = 0;
};
Tensor weights(const Shadow& shadow, const Weights& of);

/// What an engine of SDP streams: its ALU's operand, its multiplier's, or both by turns.
struct Operands {
    Place place;
    Strides strides{};
    std::uint32_t c = 1, h = 1, w = 1;  // h and w 1: one a kernel
    std::uint32_t per_atom = 32;        // elements of the output in one
    std::uint32_t width = 1;            // bytes of one
    bool both = false;
};
/// ALU's, multiplier's; of a single use the first one.
std::array<Tensor, 2> operands(const Shadow& shadow, const Operands& of);

}  // namespace dlasim::loadable
