// The manual page and what shells complete, made of the commands and options themselves.
#pragma once
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace dlasim {

/// "man": a page for man(1). "bash", "zsh": a file that completes commands, options, their words and the files that they name.
std::string manual(const CLI::App& app, std::string_view form, std::string_view version);

}  // namespace dlasim
