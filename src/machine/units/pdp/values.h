// What PDP's beats are worth. The stages say when an atom leaves; it is computed then, with all others that the bytes
// received so far complete on the same output line.
//
//   bytes in order of arrival ─► elements of the line ─► windows along the line (8 lines kept) ─► output line ─► atoms
//
// Shapes  line: [pixel][element of an atom]; order of arrival pass, surface, line, pixel.
// Source  pdp.md 1.2, 1.4, 3.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "base/byte_stream.h"
#include "facts/pdp.h"
#include "numerics/pdp.h"
#include "traffic/memory.h"
#include "units/pdp/layer.h"

namespace dlasim::pdp {

class Values {
public:
    explicit Values(const facts::pdp::Facts& silicon) : silicon_(silicon) {}

    void compute(bool on) { on_ = on; }
    /// Bytes of whole atoms, or of parts of one on the fly. PDP_RDMA reads ahead while SDP still feeds the layer before.
    void feed(bool flying, const std::uint8_t* bytes, std::uint32_t count)
    {
        if (on_) sources_[flying].bytes.push(bytes, count);
    }
    void start(const LayerConfig& layer);
    /// The bytes of the next output atom.
    void next(std::uint8_t* bytes);
    /// NaN among the outputs of the layer, without those of its last beat.
    std::uint32_t nan_outputs() const { return nan_outputs_; }

private:
    static constexpr std::uint32_t kLines = 8;

    struct Window {
        std::uint32_t begin = 0, real = 0;  // first real element, and how many
    };
    static Window window(std::uint32_t out, std::uint32_t stride, std::uint32_t pad, std::uint32_t kernel, std::uint32_t length);
    void open_pass();
    void open_surface();
    void open_line(std::uint64_t position);
    void pool_line();
    void pool_columns();
    void count_nan(const std::uint8_t* bytes);
    std::int32_t* pooled(std::uint32_t line, std::uint32_t column) { return lines_[line % kLines].data() + std::size_t{column} * lanes_; }

    const facts::pdp::Facts& silicon_;
    bool on_ = true;
    struct Source {
        ByteStream bytes;
        std::uint64_t end = 0;  // position after the bytes of its layers so far
    };
    std::array<Source, 2> sources_;           // memory, SDP
    ByteStream* input_ = &sources_[0].bytes;  // of the layer
    const LayerConfig* layer_ = nullptr;
    std::uint32_t lanes_ = 0;  // elements of an atom
    // the pass
    std::uint32_t pass_ = 0, surface_ = 0, out_line_ = 0, out_column_ = 0;
    std::uint32_t width_ = 0, out_width_ = 0, pad_left_ = 0;
    // the line of the input that is pooled along
    std::uint32_t in_line_ = 0;
    std::uint64_t surface_begin_ = 0, line_begin_ = 0;  // positions of the first bytes
    std::uint32_t read_ = 0, columns_ = 0;              // pixels read, windows complete
    std::vector<std::int32_t> elements_;                // [pixel][lane]
    std::array<std::vector<std::int32_t>, kLines> lines_;
    // the output line
    std::uint32_t ready_ = 0;  // columns of it
    std::vector<std::int32_t> sums_;
    std::vector<std::uint8_t> out_;
    std::uint32_t nan_outputs_ = 0;
    std::uint64_t atoms_left_ = 0;
};

}  // namespace dlasim::pdp
