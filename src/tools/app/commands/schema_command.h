// `dlasim schema KIND` prints a JSON Schema (draft 2020-12) made of the key tables that readers and `dlasim reference` use; editors
// complete and check files with it. `dlasim new KIND` prints a template with comments that runs.
#pragma once
#include <array>
#include <string>
#include <string_view>

namespace dlasim {

inline constexpr std::array<std::string_view, 6> kSchemaKinds{"layer", "network", "sweep", "hardware", "memory", "suite"};
inline constexpr std::array<std::string_view, 4> kTemplateKinds{"layer", "network", "sweep", "suite"};

/// Both return the exit status.
int schema_command(const std::string& kind);
int new_command(const std::string& kind);

}  // namespace dlasim
