#include "base/files/html_page.h"

#include "base/files/embedded.h"

namespace dlasim {

std::string html_text(std::string_view text)
{
    std::string html;
    for (const char c : text)
        if (c == '<') html += "&lt;";
        else if (c == '&') html += "&amp;";
        else if (c == '"') html += "&quot;";
        else html += c;
    return html;
}

const char* embedded(const std::vector<EmbeddedFile>& files, std::string_view name)
{
    for (const EmbeddedFile& file : files)
        if (name == file.name) return file.text;
    return "";
}

std::string page_begin(std::string_view title, std::string_view styles)
{
    std::string text(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    text.append(html_text(title)).append("</title>\n<style>\n").append(embedded(page_files(), "page.css")).append(styles);
    return text.append("</style>\n</head>\n<body>\n");
}

std::string page_charts()
{
    std::string text("<!-- Apache ECharts, zrender and tslib:\n");
    text.append(embedded(page_files(), "LICENSES.txt")).append("-->\n<script>\n");
    return text.append(embedded(page_files(), "charts.bundle.js")).append("</script>\n");
}

MeasuredWords measured_words(bool measured)
{
    if (measured) return {"<span class=\"badge\">measured machine</span>", "This machine was measured on the RTL."};
    return {"<span class=\"badge rules\">unmeasured machine</span>",
            "This machine was not measured on the RTL: its cycles follow from the rules of the measured ones (DEVIATIONS D8)."};
}

std::string page_end() { return "</body>\n</html>\n"; }

std::string script_json(const nlohmann::ordered_json& json)
{
    std::string text;
    for (const char c : json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace))
        if (c == '<') text += "\\u003c";
        else text += c;
    return text;
}

}  // namespace dlasim
