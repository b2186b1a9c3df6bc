#include "suite/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/files/console.h"
#include "base/files/printable.h"

namespace dlasim {
namespace {

constexpr int kValuesDiffer = 1, kRefused = 2;  // exit statuses of a run

/// The last line that says something; warnings come before what went wrong and are not it.
std::string last_line(const std::string& text)
{
    std::string last;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        const std::string line = text.substr(start, end - start);
        if (line.find_first_not_of(' ') != std::string::npos && !line.starts_with("dlasim: warning: ")) last = line;
        start = end + 1;
    }
    return last;
}

double percent_off(std::uint64_t cycles, std::uint64_t golden)
{
    const double change = static_cast<double>(cycles) - static_cast<double>(golden);
    return golden == 0 ? (cycles == 0 ? 0 : INFINITY) : 100 * change / static_cast<double>(golden);
}

/// XML 1.0 has no control characters, and no bytes that are no UTF-8.
std::string xml(const std::string& text)
{
    std::string out;
    for (const char c : printable(text, true)) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '&') out += "&amp;";
        else if (c == '<') out += "&lt;";
        else if (c == '>') out += "&gt;";
        else if (c == '"') out += "&quot;";
        else if (c == '\n') out += "&#10;";
        else if (byte >= 0x20) out += c;
    }
    return out;
}

}  // namespace

Verdict verdict_of(const SuiteCase& one, const CaseRun& run)
{
    using Kind = Verdict::Kind;
    const std::string said = last_line(run.said);
    if (run.status == kValuesDiffer) return {Kind::Failed, said.empty() ? "values differ from the golden ones" : said, "Values"};
    if (run.status == kRefused) return {Kind::Error, said.empty() ? "was rejected" : said};
    if (run.status != 0 || !run.cycles)
        return {Kind::Error,
                said.empty() ? fmt::format("ended with status {}", run.status) : fmt::format("{} (status {})", said, run.status)};
    if (one.accuracy && run.accuracy.value_or(0) < *one.accuracy)
        return {Kind::Failed, fmt::format("accuracy {:.4g}, expected at least {:g}", run.accuracy.value_or(0), *one.accuracy), "Accuracy"};
    if (!one.cycles) return {Kind::Passed, "no golden cycles: --update writes them"};
    const double off = percent_off(*run.cycles, *one.cycles);
    if (std::abs(off) <= one.tolerance) return {};
    return {Kind::Failed,
            fmt::format("{} cycles, golden {}: {:+.3g} %, expected at most {:g} %", grouped(*run.cycles), grouped(*one.cycles), off,
                        one.tolerance),
            "Cycles"};
}

std::string verdict_line(const SuiteCase& one, const CaseRun& run, const Verdict& verdict)
{
    constexpr const char* kWords[] = {"ok", "FAILED", "ERROR"};
    std::string line = fmt::format("{:<7} {:<32} {:>14} {:>7.1f} s", kWords[static_cast<int>(verdict.kind)], printable(one.name),
                                   run.cycles ? grouped(*run.cycles) : "", run.seconds);
    if (!verdict.why.empty()) line += "  " + printable(verdict.why);
    return line + "\n";
}

std::string junit_xml(const Suite& suite, const std::vector<CaseRun>& runs, const std::vector<Verdict>& verdicts, double seconds)
{
    const auto count = [&](Verdict::Kind kind) { return std::ranges::count(verdicts, kind, &Verdict::kind); };
    const std::string counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"0\" time=\"{:.3f}\"", verdicts.size(),
                                           count(Verdict::Kind::Failed), count(Verdict::Kind::Error), seconds);
    std::string text =
        fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"dlasim\" {}>\n  <testsuite name=\"{}\" {}>\n", counts,
                    xml(suite.name), counts);
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
        const Verdict& verdict = verdicts[i];
        const CaseRun& run = runs[i];
        text += fmt::format("    <testcase classname=\"{}\" name=\"{}\" file=\"{}\" time=\"{:.3f}\"", xml(suite.name),
                            xml(suite.cases[i].name), xml(suite.cases[i].file.string()), run.seconds);
        if (verdict.kind == Verdict::Kind::Passed) {
            text += "/>\n";
            continue;
        }
        const bool failed = verdict.kind == Verdict::Kind::Failed;
        const char* tag = failed ? "failure" : "error";
        text += fmt::format(">\n      <{} type=\"{}\" message=\"{}\">{}</{}>\n    </testcase>\n", tag, verdict.type, xml(verdict.why),
                            xml(run.said.find(verdict.why) != std::string::npos ? run.said : verdict.why + "\n" + run.said), tag);
    }
    return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace dlasim
