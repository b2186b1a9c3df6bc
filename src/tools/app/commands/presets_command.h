// dlasim presets: what is built in, one line each, or one of them as JSON.
#pragma once
#include <string>

namespace dlasim {

int presets_command(const std::string& name);

}  // namespace dlasim
