// Where the windows of image and Winograd are: output column, input column, input row.
//
// Source  csc.md 1.8.1: ow, iw, ih.
#pragma once
#include <cstdint>

#include "units/csc/package.h"

namespace dlasim::csc {

class WindowWalk {
public:
    /// `first_row`: of the layer.
    void start_layer(const LayerConfig& layer, std::int32_t first_row);
    std::int32_t column() const { return now_.column; }
    std::int32_t row() const { return now_.row; }
    /// The window is the last one of its line.
    bool column_end() const { return now_.output >= layer_->last_output_column; }

    /// To the next window; at the end of a stripe to where the next package begins.
    void advance(const Package& package, bool stripe_end);

private:
    static constexpr std::int32_t kFirstColumn = 2, kColumns = 2;  // Winograd: of a tile
    struct Position {
        std::uint32_t output = 0;
        std::int32_t column = 0, row = 0;
    };
    const LayerConfig* layer_ = nullptr;
    std::int32_t first_row_ = 0;
    Position now_, stripe_;  // stripe_: where the stripe begins
};

}  // namespace dlasim::csc
