// What an accelerator is built as: a preset or a hardware file, and sizes laid over it. A value: copies are independent of each other.
//
//   dlasim::HardwareConfig hardware("nv_large");
//   hardware.set("cbuf.banks", 32);
//   hardware.get("mac.atomic_c");                       64
//
// Sizes that follow from others - the entry of the buffer, the read credits - are recomputed unless they are set themselves.
//
// Errors  ConfigError: no such preset, file or size, a value out of its range, a machine that cannot be built. What throws changes nothing.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "dlasim/error.h"

namespace dlasim {

class HardwareConfig {
public:
    /// A preset ("nv_small"; all of them: `dlasim presets`) or the path of a hardware file; `settings` as --set has them: "cbuf.banks=16".
    explicit HardwareConfig(const std::string& preset_or_file, const std::vector<std::string>& settings = {});

    /// Of the preset that it started from.
    const std::string& name() const;
    /// A size by its path; 0 or 1 of a switch.
    std::uint32_t get(const std::string& path) const;
    void set(const std::string& path, std::uint32_t value);
    /// Several at once, where one alone could not be built.
    void set(const std::vector<std::pair<std::string, std::uint32_t>>& values);
    /// One period of the core clock, `clock_mhz`, in whole picoseconds.
    sc_core::sc_time clock_period() const;
    /// Byte address of a register on the register bus, "CDMA.D_OP_ENABLE".
    std::uint32_t register_address(const std::string& register_name) const;
    /// All sizes, as a hardware file that can be read again.
    std::string json() const;

    /// What get() and set() know.
    struct Size {
        std::string path, unit, meaning;
        std::uint32_t least = 0, most = 0;
        bool is_switch = false;
    };
    static std::vector<Size> sizes();

    struct Parts;
    const Parts& parts() const { return *parts_; }

private:
    std::shared_ptr<const Parts> parts_;
};

}  // namespace dlasim
