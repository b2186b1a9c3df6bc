// dlasim silicon: area and peak power of a machine without a run; energy of a run that has ended, in any technology. docs/howto/CHOOSE.md.
#pragma once
#include <string>
#include <vector>

#include "facts/presets.h"

namespace dlasim {

struct SiliconOptions {
    std::string hardware = kDefaultHardware;
    std::vector<std::string> settings;
    std::string technology = "16nm";
    std::string of;  // a result.json, whose machine counts then
    bool json = false;
};

int silicon_command(const SiliconOptions& options);

}  // namespace dlasim
