#include "golden/fp16.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "golden/cell.h"
#include "golden/winograd.h"

namespace dlasim {
namespace {

/// Elements [first, end) in the first lanes, zero in the others.
template <class At>
CellAtom::Values atom(std::uint32_t first, std::uint32_t end, At at)
{
    CellAtom::Values values{};
    for (std::uint32_t i = 0; first + i < end; ++i) values[i] = static_cast<std::uint16_t>(at(first + i));
    return values;
}

/// A convolution by rows of its output, several kernels at a time. A kernel is a list of atoms, its taps, in the order in which the
/// machine adds their words; a row of the output meets a row of data with each.
class Rows {
public:
    Rows(const Layer& layer, const Tensor& input, const Tensor& weights, std::uint32_t lanes)
        : l_(layer),
          lanes_(lanes),
          channels_(layer.kernel_channels()),
          slices_((channels_ + lanes - 1) / lanes),
          input_(input),
          weights_(weights)
    {
    }
    virtual ~Rows() = default;

    std::vector<std::uint32_t> sums()
    {
        std::vector<std::uint32_t> all(std::size_t{l_.batch} * l_.kernels * l_.out_height() * l_.out_width());
        const std::uint32_t per_group = l_.kernels / l_.groups;
        for (std::uint32_t n = 0; n < l_.batch; ++n)
            for (std::uint32_t g = 0; g < l_.groups; ++g) {
                lines_.clear();
                for (std::uint32_t y = 0; y < l_.out_height(); ++y) {
                    met_.clear();
                    meet(n, g, y);
                    for (std::uint32_t k = 0; k < per_group; k += kTogether)
                        add(n, g * per_group + k, std::min(kTogether, per_group - k), y, all);
                }
            }
        return all;
    }

private:
    static constexpr std::uint32_t kTogether = CellKernels::kTogether;
    using Taps = std::vector<CellKernels>;
    using Line = std::vector<CellAtom>;  // [slice][width]

    /// A row of `count` kernels.
    void add(std::uint32_t n, std::uint32_t first, std::uint32_t count, std::uint32_t y, std::vector<std::uint32_t>& all)
    {
        const Taps& taps = chosen(first, count, y);
        const std::uint32_t width = l_.out_width();
        std::vector<CellKernels::Each> sums(width);
        CellKernels::Each words;
        for (std::size_t tap = 0; tap < taps.size(); ++tap)
            for (std::uint32_t x = 0; x < width; ++x) {
                const CellAtom* datum = met_[tap].at(x);
                if (!datum) continue;
                cell_words(taps[tap], *datum, words);
                for (std::uint32_t k = 0; k < count; ++k) sums[x][k] = accumulated(sums[x][k], words[k]);
            }
        for (std::uint32_t k = 0; k < count; ++k)
            for (std::uint32_t x = 0; x < width; ++x)
                all[((std::size_t{n} * l_.kernels + first + k) * l_.out_height() + y) * width + x] = accumulator_result(sums[x][k]);
    }

    /// Kernels taken apart are kept for the next rows while they are few.
    const Taps& chosen(std::uint32_t first, std::uint32_t count, std::uint32_t y)
    {
        constexpr std::size_t kMaxBytes = std::size_t{64} << 20;
        const auto kept = kept_.find(first);
        if (kept != kept_.end()) return kept->second;
        first_ = first;
        count_ = count;
        taken_.clear();
        take_kernels(y);
        const std::size_t bytes = taken_.size() * sizeof(CellKernels);
        if (l_.op == Op::Deconvolution || kept_bytes_ + bytes > kMaxBytes) return taken_;
        kept_bytes_ += bytes;
        return kept_.emplace(first, std::move(taken_)).first->second;
    }

protected:
    /// What the columns of an output row meet at a tap: place (column * times + from) / every of a line.
    struct Met {
        const CellAtom* line = nullptr;     // [width]; null: all of it is outside
        const CellAtom* outside = nullptr;  // null: nothing
        std::uint32_t width = 0, times = 1, every = 1;
        std::int64_t from = 0;

        const CellAtom* at(std::uint32_t column) const
        {
            const std::int64_t x = std::int64_t{column} * times + from;
            return line && x >= 0 && x % every == 0 && x / every < width ? line + x / every : outside;
        }
    };

    /// What row y of one group meets, by meets(). The taps of the kernels, by take().
    virtual void meet(std::uint32_t n, std::uint32_t group, std::uint32_t y) = 0;
    virtual void take_kernels(std::uint32_t y) = 0;

    void meets(const Met& met) { met_.push_back(met); }
    /// After the last channel of a slice.
    std::uint32_t end_of(std::uint32_t slice) const { return std::min(channels_, (slice + 1) * lanes_); }
    /// `values_of(kernel)` gives an atom of weights.
    template <class ValuesOf>
    void take(ValuesOf values_of)
    {
        std::array<CellAtom::Values, kTogether> values;
        for (std::uint32_t k = 0; k < count_; ++k) values[k] = values_of(first_ + k);
        taken_.emplace_back(std::span(values).first(count_));
    }
    void take_weights(std::uint32_t slice, std::uint32_t r, std::uint32_t s)
    {
        take(
            [&](std::uint32_t k) { return atom(slice * lanes_, end_of(slice), [&](std::uint32_t c) { return weights_.at(k, c, r, s); }); });
    }

    /// Line y of the input, every place of every slice, while it is needed.
    const Line& line(std::uint32_t n, std::uint32_t group, std::uint32_t y)
    {
        Line& line = lines_[y];
        if (!line.empty()) return line;
        line.reserve(std::size_t{slices_} * l_.width);
        for (std::uint32_t slice = 0; slice < slices_; ++slice)
            for (std::uint32_t x = 0; x < l_.width; ++x)
                line.emplace_back(
                    atom(slice * lanes_, end_of(slice), [&](std::uint32_t c) { return input_.at(n, group * channels_ + c, y, x); }));
        return line;
    }
    void forget_lines_before(std::int64_t y)
    {
        constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
        if (lines_.size() * slices_ * l_.width * sizeof(CellAtom) > kMaxBytes) lines_.clear();
        while (!lines_.empty() && lines_.begin()->first < y) lines_.erase(lines_.begin());
    }

    const Layer& l_;
    const std::uint32_t lanes_, channels_, slices_;
    const Tensor &input_, &weights_;

private:
    std::map<std::uint32_t, Line> lines_;
    std::vector<Met> met_;  // [taps]
    std::uint32_t first_ = 0, count_ = 0;
    Taps taken_;
    std::unordered_map<std::uint32_t, Taps> kept_;
    std::size_t kept_bytes_ = 0;
};

/// Features: slices of channels, then rows and columns of the kernel.
class FeatureRows final : public Rows {
public:
    FeatureRows(const Layer& layer, const Tensor& input, const Tensor& weights, std::uint32_t lanes) : Rows(layer, input, weights, lanes)
    {
        for (std::uint32_t slice = 0; slice < slices_; ++slice)
            padding_.emplace_back(atom(slice * lanes_, end_of(slice), [&](std::uint32_t) { return l_.pad.value; }));
    }

private:
    void meet(std::uint32_t n, std::uint32_t group, std::uint32_t oy) override
    {
        const std::int64_t top = std::int64_t{oy} * l_.stride.y - l_.pad.top;
        forget_lines_before(top);
        for (std::uint32_t slice = 0; slice < slices_; ++slice)
            for (std::uint32_t r = 0; r < l_.kernel_height; ++r) {
                const std::int64_t y = top + std::int64_t{r} * l_.dilation.y;
                const CellAtom* from =
                    y >= 0 && y < l_.height ? &line(n, group, static_cast<std::uint32_t>(y))[std::size_t{slice} * l_.width] : nullptr;
                for (std::uint32_t s = 0; s < l_.kernel_width; ++s)
                    meets({from, &padding_[slice], l_.width, l_.stride.x, 1, std::int64_t{s} * l_.dilation.x - l_.pad.left});
            }
    }
    void take_kernels(std::uint32_t) override
    {
        for (std::uint32_t slice = 0; slice < slices_; ++slice)
            for (std::uint32_t r = 0; r < l_.kernel_height; ++r)
                for (std::uint32_t s = 0; s < l_.kernel_width; ++s) take_weights(slice, r, s);
    }

    std::vector<CellAtom> padding_;  // [slice]
};

/// Pixels: an operation takes 64 elements of a kernel row, pixel major, or the same of several rows.
class ImageRows final : public Rows {
public:
    ImageRows(const Layer& layer, const Tensor& input, const Tensor& weights, const Method& method)
        : Rows(layer, input, weights, method.lanes), rows_(method.image_rows), length_(layer.kernel_width * layer.channels)
    {
    }

private:
    /// Calls step(first element, first row) for every operation.
    template <class Step>
    void each(Step step) const
    {
        for (std::uint32_t e0 = 0; e0 < length_; e0 += lanes_)
            for (std::uint32_t r0 = 0; r0 < l_.kernel_height; r0 += rows_) step(e0, r0);
    }
    /// The values of an operation: at(row, element of the row).
    template <class At>
    CellAtom::Values values(std::uint32_t e0, std::uint32_t r0, At at) const
    {
        CellAtom::Values values{};
        std::uint32_t lane = 0;
        for (std::uint32_t r = r0; r < std::min(l_.kernel_height, r0 + rows_); ++r)
            for (std::uint32_t e = e0; e < std::min(length_, e0 + lanes_); ++e, ++lane)
                values.at(lane) = static_cast<std::uint16_t>(at(r, e));
        return values;
    }
    void meet(std::uint32_t, std::uint32_t, std::uint32_t oy) override
    {
        data_.clear();
        each([&](std::uint32_t e0, std::uint32_t r0) {
            for (std::uint32_t ox = 0; ox < l_.out_width(); ++ox)
                data_.emplace_back(values(e0, r0, [&](std::uint32_t r, std::uint32_t e) {
                    const std::int64_t y = std::int64_t{oy} * l_.stride.y + r - l_.pad.top,
                                       x = std::int64_t{ox} * l_.stride.x + e / l_.channels - l_.pad.left;
                    const bool inside = y >= 0 && x >= 0 && y < l_.height && x < l_.width;
                    return inside ? input_.at(0, e % l_.channels, static_cast<std::uint32_t>(y), static_cast<std::uint32_t>(x))
                                  : static_cast<std::int16_t>(l_.pad.value);
                }));
        });
        for (std::size_t i = 0; i < data_.size(); i += l_.out_width()) meets({&data_[i], nullptr, l_.out_width()});
    }
    void take_kernels(std::uint32_t) override
    {
        each([&](std::uint32_t e0, std::uint32_t r0) {
            take([&](std::uint32_t k) {
                return values(e0, r0,
                              [&](std::uint32_t r, std::uint32_t e) { return weights_.at(k, e % l_.channels, r, e / l_.channels); });
            });
        });
    }

    const std::uint32_t rows_, length_;
    std::vector<CellAtom> data_;  // [taps][out width]
};

/// Deconvolution: each output gathers the inputs that reach it, in ascending rows and columns of the input: kernel columns descend.
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
    void meet(std::uint32_t n, std::uint32_t group, std::uint32_t oy) override
    {
        for (std::uint32_t slice = 0; slice < slices_; ++slice)
            each_line(oy, [&](std::uint32_t y, std::uint32_t) {
                const CellAtom* from = &line(n, group, y)[std::size_t{slice} * l_.width];
                for (std::uint32_t s = l_.kernel_width; s-- > 0;)
                    meets({from, nullptr, l_.width, 1, l_.stride.x, std::int64_t{l_.pad.left} - s});
            });
    }
    void take_kernels(std::uint32_t oy) override
    {
        for (std::uint32_t slice = 0; slice < slices_; ++slice)
            each_line(oy, [&](std::uint32_t, std::uint32_t r) {
                for (std::uint32_t s = l_.kernel_width; s-- > 0;) take_weights(slice, r, s);
            });
    }
};

}  // namespace

std::vector<std::uint32_t> reference_fp16_sums(const Layer& layer, const Tensor& input, const Tensor& weights, const Method& method)
{
    if (method.winograd) return reference_winograd_fp16(layer, input, weights);
    if (layer.op == Op::Deconvolution) return DeconvolutionRows(layer, input, weights, method.lanes).sums();
    if (layer.image()) return ImageRows(layer, input, weights, method).sums();
    return FeatureRows(layer, input, weights, method.lanes).sums();
}

}  // namespace dlasim
