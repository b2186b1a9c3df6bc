#include "app/sweep_command.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "app/interrupt.h"
#include "app/output_folder.h"
#include "app/run_command.h"
#include "base/error.h"
#include "config/sweep.h"

namespace dlasim {
namespace {

namespace fs = std::filesystem;

fs::path point_folder(const SweepOptions& options, std::size_t index)
{
    return fs::path(options.out) / "points" / fmt::format("{:04}", index);
}

/// A row: what points.csv and points.json say of a point. Nothing in it depends on the clock on the wall.
OrderedJson row_of(const SweepOptions& options, const Sweep& sweep, std::size_t index, int status)
{
    OrderedJson row;
    row["point"] = index;
    for (std::size_t a = 0; a < sweep.axes.size(); ++a) row[sweep.axes[a].name] = sweep.axes[a].values[sweep.points[index][a]];
    const fs::path folder = point_folder(options, index);
    OrderedJson result;
    if (std::ifstream in(folder / "result.json"); in && (status == 0 || status == 1)) result = OrderedJson::parse(in, nullptr, false);
    for (const char* key : {"cycles", "macs", "mac_utilization", "verified", "mismatches"})
        row[key] = result.is_object() && result.contains(key) ? result[key] : OrderedJson();
    std::string reason;
    if (std::ifstream in(folder / "messages.txt"); in && status != 0) {
        std::ostringstream text;
        text << in.rdbuf();
        reason = text.str().substr(0, text.str().find('\n'));
        if (reason.starts_with("dlasim: ")) reason.erase(0, 8);
    }
    if (status == 1 && reason.empty()) reason = "output differs from the golden convolution";
    if (status != 0 && reason.empty()) reason = fmt::format("ended with status {}", status);
    row["reason"] = reason;
    return row;
}

std::string csv_of(const std::vector<OrderedJson>& rows)
{
    std::string text;
    for (const auto& [key, value] : rows.front().items()) text.append(text.empty() ? "" : ",").append(cell_text(key));
    text += '\n';
    for (const OrderedJson& row : rows) {
        std::string line;
        for (const auto& [key, value] : row.items())
            line.append(line.empty() ? "" : ",").append(value.is_null() ? std::string() : cell_text(Json(value)));
        text += line + '\n';
    }
    return text;
}

class Children {
public:
    Children(const SweepOptions& options) : options_(options) {}
    ~Children()
    {
        for (const auto& [pid, index] : running_) ::kill(pid, SIGTERM);
        for (const auto& [pid, index] : running_) ::waitpid(pid, nullptr, 0);
    }

    std::size_t running() const { return running_.size(); }

    void start(std::size_t index)
    {
        const fs::path folder = point_folder(options_, index);
        fs::create_directories(folder);
        fs::remove(folder / "result.json");
        const std::string messages = (folder / "messages.txt").string(), number = std::to_string(index), out = folder.string();
        std::vector<const char*> arguments{"dlasim", "sweep-point", options_.sweep.c_str(), "--index", number.c_str(),
                                           "--out",  out.c_str()};
        if (options_.timing_only) arguments.push_back("--timing-only");
        arguments.push_back(nullptr);
        const pid_t pid = ::fork();
        if (pid < 0) throw ConfigError("--jobs", "no more processes can be started, expected fewer jobs");
        if (pid == 0) {
            // Only async-signal-safe calls between fork and exec.
            if (!::freopen(messages.c_str(), "w", stderr)) ::_exit(2);
            ::execv("/proc/self/exe", const_cast<char* const*>(arguments.data()));
            ::_exit(127);
        }
        running_[pid] = index;
    }

    /// Waits for one child; empty when interrupted.
    std::optional<std::pair<std::size_t, int>> wait()
    {
        while (!interrupted()) {
            int status = 0;
            const pid_t pid = ::waitpid(-1, &status, WNOHANG);
            if (pid > 0 && running_.count(pid) != 0) {
                const std::size_t index = running_[pid];
                running_.erase(pid);
                return std::pair{index, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
            }
            ::usleep(2000);
        }
        return std::nullopt;
    }

private:
    const SweepOptions& options_;
    std::map<pid_t, std::size_t> running_;
};

}  // namespace

int sweep_command(const SweepOptions& options)
{
    const Sweep sweep = read_sweep(options.sweep);
    watch_for_interrupt();
    const OutputFolder folder(options.out);
    OutputFolder::File csv(folder, "points.csv"), json(folder, "points.json");
    std::vector<OrderedJson> rows(sweep.points.size());
    if (rows.empty()) throw ConfigError(options.sweep, "every point is excluded, expected at least one");
    std::size_t next = 0, done = 0, failed = 0;
    bool wrong = false;
    Children children(options);
    while (done < rows.size()) {
        while (next < rows.size() && children.running() < options.jobs) children.start(next++);
        const auto ended = children.wait();
        if (!ended) {
            fmt::print(stderr, "dlasim: interrupted after {} of {} points, no table written\n", done, rows.size());
            return 130;
        }
        const auto [index, status] = *ended;
        rows[index] = row_of(options, sweep, index, status);
        ++done;
        failed += status != 0;
        wrong |= status == 1 || status == 3 || status > 3;
        if (!options.quiet)
            fmt::print("{:>4} of {}  point {:<4} {}\n", done, rows.size(), index,
                       status == 0 ? fmt::format("{} cycles", rows[index]["cycles"].dump()) : rows[index]["reason"].get<std::string>());
    }
    csv.commit(csv_of(rows));
    json.commit(OrderedJson(rows).dump(2) + "\n");
    if (!options.quiet)
        fmt::print("{} points, {} without a result; written {}\n", rows.size(), failed, (folder.path() / "points.csv").string());
    return wrong ? 1 : 0;
}

int sweep_point_command(const SweepOptions& options, std::size_t index)
{
    const Sweep sweep = read_sweep(options.sweep);
    if (index >= sweep.points.size())
        throw ConfigError("--index", fmt::format("found {}, expected less than {}", index, sweep.points.size()));
    const SweepPoint point = sweep_point(sweep, index);
    RunOptions run;
    run.out = options.out;
    run.quiet = true;
    run.timing_only = options.timing_only;
    if (point.transfer) return run_transfer(*point.transfer, point.hardware, point.memory, run);
    return run_layer(point.layer, point.hardware, point.memory, run);
}

}  // namespace dlasim
