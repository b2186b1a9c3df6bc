// The part of a measured case's program that SDP sees, and when.
#pragma once
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/bits.h"
#include "base/cycle.h"
#include "facts/hardware.h"
#include "registers/tables.h"
#include "units/csb/request_queue.h"

namespace dlasim {

using nlohmann::json;

struct SdpRegisterWrite {
    Cycle decode = 0;
    bool rdma = false;
    std::uint32_t offset = 0, data = 0;
};

struct SdpProgram {
    Cycle t0 = 0;
    std::vector<SdpRegisterWrite> writes;
    std::vector<std::uint64_t> layer_beats;  // beats of CACC
};

inline std::filesystem::path measured_cases(const std::string& preset) { return std::filesystem::path(DLASIM_TEST_DATA) / "rtl" / preset; }

inline std::uint64_t beats_of_layer(const Hardware& hw, const std::map<std::string, std::uint32_t>& regs)
{
    const auto get = [&](const char* name) {
        const auto it = regs.find(name);
        return it == regs.end() ? 0u : it->second;
    };
    const std::uint64_t w = get("D_DATA_CUBE_WIDTH") + 1, h = get("D_DATA_CUBE_HEIGHT") + 1, c = get("D_DATA_CUBE_CHANNEL") + 1;
    const std::uint64_t batch = hw.batch ? bits(get("D_FEATURE_MODE_CFG"), 8, 5) + 1 : 1;
    const bool int8 = bits(get("D_DATA_FORMAT"), 0, 2) == 0;
    const std::uint32_t atom = hw.memory.atom_bytes;
    const std::uint64_t surfaces = ceil_div<std::uint64_t>(c, int8 ? atom : atom / 2);
    return surfaces * w * h * batch * (hw.full() ? (int8 ? 2 : 1) : atom / hw.sdp.max_throughput());
}

inline std::uint32_t offset_of(const Hardware& hw, const std::string& unit, const std::string& name)
{
    const RegisterRow* row = find_unit(hw, unit)->find(std::string_view(name));
    return row ? row->offset : 0xffc;
}

/// The register writes of a case that concern SDP. The interrupt cycles that software waits for are the measured ones.
inline SdpProgram read_program(const Hardware& hw, const json& test)
{
    SdpProgram program;
    RequestQueue queue;
    Cycle offered = 1, last = 0;
    std::size_t interrupt = 0;
    std::map<std::string, std::uint32_t> groups[2];
    unsigned producer = 0;
    for (const json& entry : test["program"]) {
        const std::string name = entry[0];
        if (name == "MARK") {
            program.t0 = last;
            continue;
        }
        if (name == "WAIT_INTR") {
            if (interrupt == test["expected"]["interrupt_cycles"].size()) break;
            const Cycle pin = program.t0 + test["expected"]["interrupt_cycles"][interrupt++].get<Cycle>();
            const auto clear = queue.offer(std::max(pin, offered));
            offered = clear.pushed + 7 + 6;
            continue;
        }
        const auto passage = queue.offer(offered);
        if (name == "READ") {
            offered = passage.pushed + 18;
            continue;
        }
        last = passage.accepted;
        offered = last + 1;
        const std::size_t dot = name.find('.');
        const std::string unit = name.substr(0, dot), reg = name.substr(dot + 1);
        if (unit != "SDP" && unit != "SDP_RDMA") continue;
        program.writes.push_back({passage.pushed + 8, unit == "SDP_RDMA", offset_of(hw, unit, reg), entry[1].get<std::uint32_t>()});
        if (unit != "SDP") continue;
        if (reg == "S_POINTER") producer = entry[1];
        else if (reg == "D_OP_ENABLE") program.layer_beats.push_back(beats_of_layer(hw, groups[producer]));
        else groups[producer][reg] = entry[1];
    }
    return program;
}

}  // namespace dlasim
