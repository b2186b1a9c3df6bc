// A package (one block operation) and the loop nest that produces them in order.
//
//   for group / for output row (image) / for stripe / for channel slice / for kernel row / for kernel column
//
// Source  csc.md 1.5.
#pragma once
#include <cstdint>

#include "units/csc/layer.h"

namespace dlasim::csc {

struct Package {
    std::uint32_t kernel_column = 0, kernel_row = 0;  // offsets s, r
    std::uint32_t channels = 0;                       // elements of an atom that belong to this slice
    std::uint32_t weight_elements = 0;                // elements of a kernel row in the weight stream
    std::uint32_t sub_rows = 0;                       // kernel rows packed in this package, minus one
    std::uint32_t kernels = 0;
    std::uint32_t length = 0;     // output positions of the stripe
    std::uint32_t size = 0;       // atoms, batches included: what credits and the flush count
    std::uint32_t execution = 0;  // cycles DL is busy
    std::uint32_t loads = 0;      // cycles WL is busy
    bool last_slice = false;
    bool block_end = false;  // last kernel row and column of the slice
    bool channel_end = false, group_end = false, layer_end = false;
};

class PackageGenerator {
public:
    PackageGenerator() = default;
    explicit PackageGenerator(const LayerConfig& layer);

    bool done() const { return done_; }
    /// The package that next() returns. pre: !done()
    const Package& peek() const { return package_; }
    void next();

private:
    void start_stripe();
    void fill();

    const LayerConfig* layer_ = nullptr;
    bool done_ = true;
    std::uint32_t group_ = 0, row_ = 0, left_ = 0, slice_ = 0, r_ = 0, s_ = 0;
    bool last_stripe_ = false;
    Package package_;
};

}  // namespace dlasim::csc
