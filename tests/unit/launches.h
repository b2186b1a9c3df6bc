// Register programs of a few launches, as software writes them.
#pragma once
#include "facts/presets.h"
#include "lowering/program/program_writer.h"

namespace dlasim {

class Launches {
public:
    explicit Launches(const char* preset = "nv_full") : hardware(*find_preset(preset)), writer_(hardware, program) {}

    Launches& write(const std::string& name, std::uint32_t value)
    {
        writer_.write(name, value);
        return *this;
    }
    /// The entry is the last of `program`.
    Launches& launch(const std::string& unit) { return write(unit + ".D_OP_ENABLE", 1); }
    Launches& group(const std::string& unit, std::uint32_t group) { return write(unit + ".S_POINTER", group); }
    /// The pipeline of a convolution without SDP.
    Launches& convolution()
    {
        for (const char* unit : {"CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA"}) launch(unit);
        return *this;
    }
    /// `mode`: 1 takes what CACC gives, 2 hands over to PDP; `primary`: where it writes.
    Launches& sdp(std::uint32_t mode, bool primary = true)
    {
        return write("SDP.D_FEATURE_MODE_CFG", mode).write("SDP.D_DST_DMA_CFG", primary).launch("SDP");
    }
    Launches& host(std::size_t number)
    {
        program.push_back(HostStep{number});
        return *this;
    }
    std::size_t last() const { return program.size() - 1; }

    const Hardware hardware;
    Program program;

private:
    ProgramWriter writer_;
};

}  // namespace dlasim
