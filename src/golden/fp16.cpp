#include "golden/fp16.h"

#include <algorithm>
#include <unordered_map>

#include "golden/cell.h"
#include "golden/winograd.h"

namespace dlasim {
namespace {

constexpr std::uint32_t kLanes = CellAtom::kLanes;  // channels of an atom, nv_full

/// Elements [first, first + 64) of `count`, zero behind the last one.
template <class At>
std::array<std::uint16_t, kLanes> atom(std::uint32_t first, std::uint32_t count, At at)
{
    std::array<std::uint16_t, kLanes> values{};
    for (std::uint32_t i = 0; i < kLanes && first + i < count; ++i) values[i] = static_cast<std::uint16_t>(at(first + i));
    return values;
}

/// One row of the output after the other, so that only the lines under a row are taken apart at a time.
class Rows {
public:
    Rows(const Layer& layer, const Tensor& input, const Tensor& weights)
        : l_(layer), input_(input), weights_(weights), channels_(layer.kernel_channels()), slices_((channels_ + kLanes - 1) / kLanes)
    {
    }
    virtual ~Rows() = default;

    std::vector<std::uint32_t> sums()
    {
        std::vector<std::uint32_t> all(std::size_t{l_.batch} * l_.kernels * l_.out_height() * l_.out_width());
        for (std::uint32_t n = 0; n < l_.batch; ++n)
            for (std::uint32_t y = 0; y < l_.out_height(); ++y)
                for (std::uint32_t g = 0; g < l_.groups; ++g) {
                    data_.clear();
                    take_data(n, g, y);
                    const std::uint32_t per_group = l_.kernels / l_.groups;
                    for (std::uint32_t k = g * per_group; k < (g + 1) * per_group; ++k) {
                        choose_kernel(k, y);
                        for (std::uint32_t x = 0; x < l_.out_width(); ++x)
                            all[((std::size_t{n} * l_.kernels + k) * l_.out_height() + y) * l_.out_width() + x] =
                                accumulator_result(place(x));
                    }
                }
        return all;
    }

private:
    /// Kernels taken apart are kept for the next rows while they are few.
    void choose_kernel(std::uint32_t k, std::uint32_t y)
    {
        constexpr std::size_t kMost = std::size_t{64} << 20;
        const auto kept = kept_.find(k);
        if (kept != kept_.end()) {
            kernel_ = kept->second;
            return;
        }
        taken_.clear();
        take_kernel(k, y);
        kernel_ = taken_;
        const std::size_t bytes = taken_.size() * sizeof(CellWeights);
        if (l_.op == Op::Deconvolution || kept_bytes_ + bytes > kMost) return;
        kept_bytes_ += bytes;
        kernel_ = kept_.emplace(k, std::move(taken_)).first->second;
    }

protected:
    /// What output row y of one group meets, into `data_`; a kernel, into `taken_`; the sum of column x with `kernel_`.
    virtual void take_data(std::uint32_t n, std::uint32_t group, std::uint32_t y) = 0;
    virtual void take_kernel(std::uint32_t k, std::uint32_t y) = 0;
    virtual std::uint64_t place(std::uint32_t x) const = 0;

    /// Line y of a slice, every place of it.
    void take_line(std::uint32_t n, std::uint32_t group, std::uint32_t slice, std::uint32_t y)
    {
        for (std::uint32_t x = 0; x < l_.width; ++x)
            data_.emplace_back(atom(slice * kLanes, channels_, [&](std::uint32_t c) { return input_.at(n, group * channels_ + c, y, x); }));
    }
    void take_weights(std::uint32_t k, std::uint32_t slice, std::uint32_t r, std::uint32_t s)
    {
        taken_.emplace_back(atom(slice * kLanes, channels_, [&](std::uint32_t c) { return weights_.at(k, c, r, s); }));
    }

    const Layer& l_;
    const Tensor &input_, &weights_;
    const std::uint32_t channels_, slices_;
    std::vector<CellAtom> data_;
    std::vector<CellWeights> taken_;
    std::span<const CellWeights> kernel_;

private:
    std::unordered_map<std::uint32_t, std::vector<CellWeights>> kept_;
    std::size_t kept_bytes_ = 0;
};

/// Features: slices of channels, then rows and columns of the kernel.
class FeatureRows final : public Rows {
public:
    using Rows::Rows;

private:
    void take_data(std::uint32_t n, std::uint32_t group, std::uint32_t oy) override
    {
        for (std::uint32_t slice = 0; slice < slices_; ++slice) {
            data_.emplace_back(atom(slice * kLanes, channels_, [&](std::uint32_t) { return l_.pad.value; }));
            for (std::uint32_t r = 0; r < l_.kernel_height; ++r) {
                const std::int64_t y = std::int64_t{oy} * l_.stride.y + r * l_.dilation.y - l_.pad.top;
                if (y >= 0 && y < l_.height) take_line(n, group, slice, static_cast<std::uint32_t>(y));
                else data_.insert(data_.end(), l_.width, data_[slice * pitch()]);
            }
        }
    }
    void take_kernel(std::uint32_t k, std::uint32_t) override
    {
        for (std::uint32_t slice = 0; slice < slices_; ++slice)
            for (std::uint32_t r = 0; r < l_.kernel_height; ++r)
                for (std::uint32_t s = 0; s < l_.kernel_width; ++s) take_weights(k, slice, r, s);
    }
    std::uint64_t place(std::uint32_t ox) const override
    {
        std::uint64_t sum = 0;
        std::size_t tap = 0;
        for (std::uint32_t slice = 0; slice < slices_; ++slice)
            for (std::uint32_t r = 0; r < l_.kernel_height; ++r)
                for (std::uint32_t s = 0; s < l_.kernel_width; ++s, ++tap) {
                    const std::int64_t x = std::int64_t{ox} * l_.stride.x + s * l_.dilation.x - l_.pad.left;
                    const bool inside = x >= 0 && x < l_.width;
                    const std::size_t at = slice * pitch() + (inside ? 1 + std::size_t{r} * l_.width + static_cast<std::size_t>(x) : 0);
                    sum = accumulated(sum, cell_word(kernel_[tap], data_[at]));
                }
        return sum;
    }
    /// A slice: an atom of padding, then the lines.
    std::size_t pitch() const { return 1 + std::size_t{l_.kernel_height} * l_.width; }
};

/// Pixels: an operation takes 64 elements of a kernel row, pixel major, or the same of several rows.
class ImageRows final : public Rows {
public:
    ImageRows(const Layer& layer, const Tensor& input, const Tensor& weights, std::uint32_t rows)
        : Rows(layer, input, weights), rows_(rows), length_(layer.kernel_width * layer.channels)
    {
    }

private:
    /// Calls step(values of an operation) with what `at` says of (kernel row, element of the row).
    template <class At, class Step>
    void each(At at, Step step) const
    {
        for (std::uint32_t e0 = 0; e0 < length_; e0 += kLanes)
            for (std::uint32_t r0 = 0; r0 < l_.kernel_height; r0 += rows_) {
                std::array<std::uint16_t, kLanes> values{};
                std::uint32_t lane = 0;
                for (std::uint32_t r = r0; r < std::min(l_.kernel_height, r0 + rows_); ++r)
                    for (std::uint32_t e = e0; e < std::min(length_, e0 + kLanes); ++e, ++lane)
                        values.at(lane) = static_cast<std::uint16_t>(at(r, e));
                step(values);
            }
    }
    void take_data(std::uint32_t, std::uint32_t, std::uint32_t oy) override
    {
        for (std::uint32_t ox = 0; ox < l_.out_width(); ++ox)
            each(
                [&](std::uint32_t r, std::uint32_t e) {
                    const std::int64_t y = std::int64_t{oy} * l_.stride.y + r - l_.pad.top,
                                       x = std::int64_t{ox} * l_.stride.x + e / l_.channels - l_.pad.left;
                    const bool inside = y >= 0 && x >= 0 && y < l_.height && x < l_.width;
                    return inside ? input_.at(0, e % l_.channels, static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(x))
                                  : l_.pad.value;
                },
                [&](const auto& values) { data_.emplace_back(values); });
    }
    void take_kernel(std::uint32_t k, std::uint32_t) override
    {
        each([&](std::uint32_t r, std::uint32_t e) { return weights_.at(k, e % l_.channels, r, e / l_.channels); },
             [&](const auto& values) { taken_.emplace_back(values); });
    }
    std::uint64_t place(std::uint32_t ox) const override
    {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < kernel_.size(); ++i) sum = accumulated(sum, cell_word(kernel_[i], data_[ox * kernel_.size() + i]));
        return sum;
    }

    const std::uint32_t rows_, length_;
};

/// Deconvolution: each output gathers the inputs that reach it, in ascending rows and columns of the input.
class DeconvolutionRows final : public Rows {
public:
    using Rows::Rows;

private:
    /// Calls line(input row, kernel row) for the rows that meet in output row `oy`.
    template <class Line>
    void each_line(std::uint32_t oy, Line line) const
    {
        for (std::uint32_t y = 0; y < l_.height; ++y) {
            const std::int64_t r = std::int64_t{oy} + l_.pad.top - std::int64_t{y} * l_.stride.y;
            if (r >= 0 && r < l_.kernel_height) line(y, static_cast<std::uint32_t>(r));
        }
    }
    void take_data(std::uint32_t n, std::uint32_t group, std::uint32_t oy) override
    {
        lines_ = 0;
        each_line(oy, [&](std::uint32_t, std::uint32_t) { ++lines_; });
        for (std::uint32_t slice = 0; slice < slices_; ++slice)
            each_line(oy, [&](std::uint32_t y, std::uint32_t) { take_line(n, group, slice, y); });
    }
    void take_kernel(std::uint32_t k, std::uint32_t oy) override
    {
        for (std::uint32_t slice = 0; slice < slices_; ++slice)
            each_line(oy, [&](std::uint32_t, std::uint32_t r) {
                for (std::uint32_t s = 0; s < l_.kernel_width; ++s) take_weights(k, slice, r, s);
            });
    }
    std::uint64_t place(std::uint32_t ox) const override
    {
        std::uint64_t sum = 0;
        for (std::size_t line = 0; line < slices_ * lines_; ++line)
            for (std::uint32_t x = 0; x < l_.width; ++x) {
                const std::int64_t s = std::int64_t{ox} + l_.pad.left - std::int64_t{x} * l_.stride.x;
                if (s >= 0 && s < l_.kernel_width)
                    sum = accumulated(sum,
                                      cell_word(kernel_[line * l_.kernel_width + static_cast<std::size_t>(s)], data_[line * l_.width + x]));
            }
        return sum;
    }

    std::size_t lines_ = 0;
};

}  // namespace

std::vector<std::uint32_t> reference_fp16_sums(const Layer& layer, const Tensor& input, const Tensor& weights, const Method& method)
{
    if (method.winograd) return reference_winograd_fp16(layer, input, weights);
    if (layer.op == Op::Deconvolution) return DeconvolutionRows(layer, input, weights).sums();
    if (layer.image()) return ImageRows(layer, input, weights, method.image_rows).sums();
    return FeatureRows(layer, input, weights).sums();
}

}  // namespace dlasim
