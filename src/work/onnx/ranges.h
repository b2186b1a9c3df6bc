// How large the values of a graph become over some images, and which magnitude 127 represents.
//
//   max         the largest one
//   percentile  the one that 99.99 % of the magnitudes do not exceed
//   mse         the one with the least mean square of rounding and saturation
//   entropy     the one whose 128 steps keep most of the distribution: the least Kullback-Leibler divergence
//               of those that saturate at most 1 % of the magnitudes
//
// The last three look at a histogram of magnitudes above 0, whose range doubles as larger ones come.
#pragma once
#include <array>
#include <cstdint>

#include "onnx/evaluate.h"

namespace dlasim {

enum class Calibration : std::uint8_t { Max, Percentile, Mse, Entropy };
inline constexpr std::array<const char*, 4> kCalibrationNames{"max", "percentile", "mse", "entropy"};

class Ranges {
public:
    explicit Ranges(const RealGraph& graph, Calibration how = Calibration::Max)
        : how_(how), most_(graph.values.size()), histograms_(how == Calibration::Max ? 0 : graph.values.size())
    {
    }
    void see(const std::vector<RealTensor>& values);
    double most(std::size_t value) const;

    static constexpr std::size_t kBins = 2048;
    struct Histogram {
        double top = 0;  // of the last bin; 0: nothing seen
        std::vector<std::uint64_t> bins{};

        void see(const RealTensor& values, double most);
        /// The first ones that hold this share of all magnitudes.
        std::size_t bins_of(double share) const;
        double percentile() const;
        double least_squares() const;
        double least_divergence() const;
    };

private:
    Calibration how_;
    std::vector<double> most_;
    std::vector<Histogram> histograms_;
};

}  // namespace dlasim
