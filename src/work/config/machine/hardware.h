// Hardware from the command line and from JSON: a preset, and what is laid over it.
//
//   preset name or file ──► Hardware ──► --set PATH=VALUE ──► derived sizes ──► rules ──► Hardware
//
// Sizes that follow from others (entry bytes, atom, beat, SDP width, read credits) are recomputed
// when what they follow from was changed, unless they are given themselves.
//
// Source  interfaces.md 1, hardware/README.md; the rules: csc.md 0, cdma.md 0.1, cacc.md 0, sdp.md 1.4.
// Error   ConfigError naming the rule that is broken.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "base/files/keys.h"
#include "config/json_object.h"
#include "facts/client.h"
#include "facts/hardware.h"

namespace dlasim {

/// One number or switch of Hardware: the same list serves reader, writer, --set, sweep and `presets`.
struct HardwareField {
    std::string path;  // "cbuf.banks"
    std::uint32_t* (*number)(Hardware&) = nullptr;
    bool* (*flag)(Hardware&) = nullptr;
    Within range{0, 0};
    std::string unit, meaning;
};
const std::vector<HardwareField>& hardware_fields();
/// Path of a client's read credit.
std::string credit_path(Client client);
/// Null if there is none of that path; takes former names too, with a warning.
const HardwareField* find_hardware_field(const std::string& path);
/// The keys of a hardware object beside the fields.
extern const std::array<KeyRow, 3> kHardwareKeys;

/// Whether a machine that cannot be simulated is refused, given with a warning, or given as it is.
enum class HardwareRules { Checked, Warned, Ignored };

/// False for the name of a preset.
bool is_hardware_file(const std::string& preset_or_file);
/// `preset_or_file` as in --hw; `settings` as in --set, each "PATH=VALUE". `where`: the place of the former.
Hardware load_hardware(const std::string& preset_or_file, const std::vector<std::string>& settings = {},
                       HardwareRules rules = HardwareRules::Checked, const std::string& where = "--hw");
/// A hardware object: {"preset": ..., "mac": {...}, ...}; without "preset" laid over `preset`.
Hardware read_hardware(const Json& json, const std::string& file, const std::string& pointer, const std::string& preset = "",
                       const std::vector<std::string>& settings = {}, HardwareRules rules = HardwareRules::Checked);
/// The fewest settings that make this machine out of its preset: sizes follow from each other.
std::vector<std::string> settings_of(const Hardware& hardware);
/// Its preset, and what differs from it: "nv_small with cbuf.banks=16".
std::string machine_name(const Hardware& hardware);
/// All fields, in a form that read_hardware reads back.
OrderedJson hardware_json(const Hardware& hardware);

/// Throws ConfigError if this machine cannot exist, naming the rule.
void check_hardware(const Hardware& hardware, const std::string& where);

}  // namespace dlasim
