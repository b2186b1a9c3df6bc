// What pages in HTML have in common: each is one file that needs no other, with its styles, Apache ECharts and its data inside.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace dlasim {

/// Text as HTML has it, in attributes too.
std::string html_text(std::string_view text);
/// Up to the body. `title` is text, `styles` are laid over those of all pages.
std::string page_begin(std::string_view title, std::string_view styles = "");
/// ECharts, as `charts` in scripts, with its licences.
std::string page_charts();
std::string page_end();
/// What every page, and the answer of a sweep, says of a machine: whether it was measured on the RTL.
struct MeasuredWords {
    std::string badge;     // HTML
    std::string sentence;  // text
};
MeasuredWords measured_words(bool measured);
/// JSON that can be embedded in a script of a page: nothing in it ends the script.
std::string script_json(const nlohmann::ordered_json& json);

}  // namespace dlasim
