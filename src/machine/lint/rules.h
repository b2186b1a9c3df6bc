// The rules of one operation: its units as the program has set them when it launched them.
#pragma once
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>

#include "lint/lint.h"
#include "workload/operations.h"
#include "workload/programmed.h"

namespace dlasim::lint {

/// Short names of the units that the rules compare.
namespace units {
inline constexpr Launched kCdma = Launched::Cdma, kCsc = Launched::Csc, kCacc = Launched::Cacc, kSdp = Launched::Sdp,
                          kSdpRdma = Launched::SdpRdma, kPdp = Launched::Pdp, kPdpRdma = Launched::PdpRdma, kCdp = Launched::Cdp,
                          kCdpRdma = Launched::CdpRdma;
}

/// A launched unit: its registers then, and the entry of the launch.
struct LaunchedUnit {
    RegisterGroup registers;
    std::size_t entry = 0;
};

struct OperationRegisters {
    std::uint32_t number = 0;
    std::size_t entry = 0;  // its last launch
    std::array<std::optional<LaunchedUnit>, kLaunched> units;

    const LaunchedUnit* of(Launched unit) const
    {
        const auto& found = units[static_cast<std::size_t>(unit)];
        return found ? &*found : nullptr;
    }
};

/// A field of a unit of the operation.
struct FieldOf {
    Launched unit;
    reg::Field field;
};

/// What an operation leaves for the next one.
struct LeftBehind {
    std::optional<RuleBreach> weights;  // more entries of weights are announced than read: the next layer in these banks reads shifted ones
    std::uint32_t banks = 0;            // D_BANK
};

/// Compares fields of the units and reports where they break a rule.
class OperationRules {
public:
    OperationRules(const Hardware& hardware, const OperationRegisters& operation, LeftBehind& left, std::vector<RuleBreach>& breaches)
        : hw(hardware), op(operation), left_(left), breaches_(breaches)
    {
    }
    void check();

private:
    void check_convolution();
    void check_convolution_pairs();
    void check_precisions();
    void check_abilities();
    void check_pixels();
    void check_windows();
    void check_buffer();
    void check_weights(std::uint32_t element, bool compressed);
    void check_output();
    void check_sdp();
    void check_operands();
    void check_pdp();
    void check_cdp();

    bool has(Launched unit) const { return op.of(unit) != nullptr; }
    std::uint32_t get(FieldOf at) const { return op.of(at.unit)->registers.get(at.field); }
    std::uint32_t get(Launched unit, reg::Field field) const { return get({unit, field}); }
    std::uint32_t word(Launched unit, std::uint32_t offset) const { return op.of(unit)->registers.get(offset); }
    /// Both have the same value; units that are not launched have none.
    void equal(const char* what, FieldOf a, FieldOf b);
    /// The field has this value; `because`: what it follows from.
    void expect(FieldOf at, std::uint64_t value, const std::string& because);
    void report(Rule rule, Launched unit, std::uint32_t offset, std::string problem);
    /// A cube in memory. Surfaces of a cube that is read may overlap.
    struct Cube {
        Launched unit;
        reg::Register line, surface;
        std::uint64_t width, height, surfaces;
        bool read;
    };
    void expect_strides(const Cube& cube);
    /// A machine without a secondary memory port has only the primary one.
    void expect_port(Launched unit, reg::Field ram_type);
    void missing(Launched unit, const std::string& because);
    std::string name(FieldOf at) const { return op.of(at.unit)->registers.name(at.field.offset); }

    const Hardware& hw;
    const OperationRegisters& op;
    LeftBehind& left_;
    std::vector<RuleBreach>& breaches_;
};

}  // namespace dlasim::lint
