// What the registers of SDP_RDMA's consumer group ask one read engine for.
//
// Source  sdp.md 1.3, 1.5, 1.6.
#pragma once
#include <cstdint>

#include "facts/sdp.h"
#include "registers/register_file.h"

namespace dlasim::sdp {

enum class ReadEngine : std::uint8_t { Mrdma, Brdma, Nrdma, Erdma };
inline constexpr unsigned kReadEngines = 4;

enum class OperandUse : std::uint8_t { Mul = 0, Alu = 1, Both = 2 };

struct ReadLayer {
    bool on = false;
    bool to_primary = true;
    std::uint32_t width = 1, height = 1, surfaces = 1, batch = 1;
    Precision input = Precision::Int8, processing = Precision::Int8;
    std::uint32_t input_bytes = 1;  // of an element of features
    bool winograd = false;
    std::uint32_t atom = 0;
    std::uint64_t base = 0, line_stride = 0, surface_stride = 0;
    std::uint64_t address_mask = UINT64_MAX;
    bool features = false;   // MRDMA; else operands
    bool narrowing = false;  // 16to8: two 16-bit surfaces make one of 8 bits
    OperandUse use = OperandUse::Mul;
    std::uint32_t operand_bytes = 1;
    bool per_element = false;
    std::uint32_t atoms_per_atom = 1;  // operand atoms of an atom of elements

    bool int8() const { return processing == Precision::Int8; }
    bool uses_alu() const { return use != OperandUse::Mul; }
    bool uses_mul() const { return use != OperandUse::Alu; }
    bool one_pixel() const { return width == 1 && height == 1; }
    std::uint64_t pixels() const { return std::uint64_t{width} * height * batch; }
    /// Which element of a surface of operands the n-th pixel in order of the data takes: pairs of pixels come once for
    /// every batch.
    std::uint64_t element_of(std::uint64_t n) const
    {
        if (batch == 1) return n;
        const std::uint64_t line = n / (std::uint64_t{width} * batch), in_line = n % (std::uint64_t{width} * batch);
        const std::uint64_t pair = in_line / (2 * batch), size = width - 2 * pair > 1 ? 2 : 1;
        return line * width + 2 * pair + (in_line - 2 * pair * batch) % size;
    }
    /// Atoms of all requests.
    std::uint64_t total_atoms() const;

    static ReadLayer decode(const facts::sdp::Facts& silicon, const RegisterFile& registers, ReadEngine engine);
};

}  // namespace dlasim::sdp
