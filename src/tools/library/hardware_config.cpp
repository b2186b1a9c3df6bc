#include "dlasim/hardware_config.h"

#include <algorithm>
#include <cmath>

#include "config/machine/hardware.h"
#include "dlasim/burst.h"
#include "facts/client.h"
#include "library/parts.h"
#include "registers/tables.h"

namespace dlasim {
namespace {

std::shared_ptr<const HardwareConfig::Parts> configured(const std::string& from, const std::vector<std::string>& settings)
{
    return std::make_shared<const HardwareConfig::Parts>(HardwareConfig::Parts{from, settings, load_hardware(from, settings)});
}

}  // namespace

const char* client_name(std::uint8_t id) { return id < kClients ? kClientNames[id] : "?"; }

HardwareConfig::HardwareConfig(const std::string& preset_or_file, const std::vector<std::string>& settings)
    : parts_(configured(preset_or_file, settings))
{
}

const std::string& HardwareConfig::name() const { return parts_->hardware.name; }

std::uint32_t HardwareConfig::get(const std::string& path) const
{
    const HardwareField* field = find_hardware_field(path);
    if (!field) throw ConfigError(path, "no such size; HardwareConfig::sizes() has all of them");
    Hardware hardware = parts_->hardware;
    return field->number ? *field->number(hardware) : std::uint32_t{*field->flag(hardware)};
}

void HardwareConfig::set(const std::string& path, std::uint32_t value) { set({{path, value}}); }

void HardwareConfig::set(const std::vector<std::pair<std::string, std::uint32_t>>& values)
{
    std::vector<std::string> settings = parts_->settings;
    for (const auto& [path, value] : values) {
        const HardwareField* field = find_hardware_field(path);
        if (!field) throw ConfigError(path, "no such size; HardwareConfig::sizes() has all of them");
        if (field->flag && value > 1) throw ConfigError(path, "found " + std::to_string(value) + ", expected 0 or 1 of a switch");
        const std::string text = field->number ? std::to_string(value) : value != 0 ? "true" : "false";
        settings.push_back(path + "=" + text);
    }
    parts_ = configured(parts_->from, settings);
}

sc_core::sc_time HardwareConfig::clock_period() const
{
    return sc_core::sc_time(std::max(1.0, std::round(1e6 / parts_->hardware.clock_mhz)), sc_core::SC_PS);
}

std::uint32_t HardwareConfig::register_address(const std::string& register_name) const
{
    const auto found = dlasim::register_address(parts_->hardware, register_name);
    if (!found) throw ConfigError(register_name, "no such register in " + name());
    return *found;
}

std::string HardwareConfig::json() const { return hardware_json(parts_->hardware).dump(2); }

std::vector<HardwareConfig::Size> HardwareConfig::sizes()
{
    std::vector<Size> sizes;
    for (const HardwareField& field : hardware_fields())
        sizes.push_back({field.path, field.unit, field.meaning, static_cast<std::uint32_t>(field.range.low),
                         static_cast<std::uint32_t>(field.range.high), field.flag != nullptr});
    return sizes;
}

}  // namespace dlasim
