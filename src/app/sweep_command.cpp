#include "app/sweep_command.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>

#include "app/folder_lock.h"
#include "app/interrupt.h"
#include "app/output_folder.h"
#include "app/run_command.h"
#include "app/status.h"
#include "base/error.h"
#include "config/sweep.h"
#include "files/console.h"
#include "files/json_text.h"

namespace dlasim {
namespace {

namespace fs = std::filesystem;

fs::path point_folder(const SweepOptions& options, std::size_t index)
{
    return fs::path(options.out) / "points" / fmt::format("{:04}", index);
}

constexpr KeyRow kPointColumn{"point", "integer", "", "number of the point, from 0 on: its folder is points/NUMBER"};
constexpr KeyRow kAxisColumn{"*", "any", "", "a column for each axis, in their order: the value of the point"};
/// What is taken from the result of the point; null, an empty cell, without one.
constexpr std::array kFigureColumns{
    KeyRow{"cycles", "integer or null", "cycles", "from t0 to the last done interrupt"},
    KeyRow{"macs", "integer or null", "MACs", "multiplications of the direct convolution"},
    KeyRow{"mac_utilization", "number or null", "", "macs of what the array could do"},
    KeyRow{"array_occupancy", "number or null", "", "share of the cycles in which the array takes an operation"},
    KeyRow{"verified", "flag or null", "", "every value compared is equal"},
    KeyRow{"mismatches", "integer or null", "values", "values that are not equal"},
};
constexpr KeyRow kReasonColumn{"reason", "text", "", "why there is no result, or what is wrong with it; empty if all is well"};

/// A row: what points.csv and points.json say of a point. Nothing in it depends on the clock on the wall.
OrderedJson row_of(const SweepOptions& options, const Sweep& sweep, std::size_t index, int status)
{
    OrderedJson row;
    row[std::string(kPointColumn.name)] = index;
    for (std::size_t a = 0; a < sweep.axes.size(); ++a) row[sweep.axes[a].name] = sweep.axes[a].values[sweep.points[index][a]];
    const fs::path folder = point_folder(options, index);
    OrderedJson result;
    if (status == kDone || status == kMismatch) result = parse_ordered_json(read_text((folder / "result.json").string()));
    for (const std::string& key : names_of(kFigureColumns))
        row[key] = result.is_object() && result.contains(key) ? result[key] : OrderedJson();
    std::string reason;
    if (status != kDone) {
        std::istringstream text(read_text((folder / "messages.txt").string()));
        for (std::string line; reason.empty() && std::getline(text, line);)
            if (!line.starts_with("dlasim: warning: ")) reason = line;
        if (reason.starts_with("dlasim: ")) reason.erase(0, 8);
    }
    if (status == kMismatch && reason.empty()) reason = "output differs from the golden convolution";
    if (status != 0 && reason.empty()) reason = fmt::format("ended with status {}", status);
    row[std::string(kReasonColumn.name)] = reason;
    return row;
}

/// A line of points.csv; the names of the columns instead of the values with `names`.
std::string csv_line(const OrderedJson& row, bool names = false)
{
    std::string line;
    for (const auto& [key, value] : row.items())
        line.append(line.empty() ? "" : ",").append(names ? cell_text(key) : value.is_null() ? std::string() : cell_text(Json(value)));
    return line + '\n';
}

/// A row of points.json.
std::string json_row(const OrderedJson& row)
{
    std::string text = "  ";
    for (const char c : row.dump(2, ' ', false, OrderedJson::error_handler_t::replace)) text.append(1, c).append(c == '\n' ? "  " : "");
    return text;
}

/// The tables, held as text: a large sweep has a million rows.
struct Tables {
    explicit Tables(std::size_t points) : csv(points), json(points) {}
    void set(std::size_t index, const OrderedJson& row)
    {
        if (header.empty()) header = csv_line(row, true);
        csv[index] = csv_line(row);
        json[index] = json_row(row);
    }
    void write(OutputFile& csv_file, OutputFile& json_file) const
    {
        csv_file.write(header);
        for (const std::string& line : csv) csv_file.write(line);
        json_file.write("[");
        for (std::size_t i = 0; i < json.size(); ++i) {
            json_file.write(i == 0 ? "\n" : ",\n");
            json_file.write(json[i]);
        }
        json_file.write("\n]\n");
        csv_file.commit();
        json_file.commit();
    }
    std::string header;
    std::vector<std::string> csv, json;
};

/// One point, in a process of its own.
int run_point(const SweepOptions& options, const Sweep& sweep, std::size_t index)
{
    const SweepPoint point = sweep_point(sweep, index);
    RunOptions run;
    run.out = point_folder(options, index).string();
    run.quiet = true;
    run.timing_only = options.timing_only;
    run.tensors = false;
    return run_job(point.descriptor, point.hardware, point.memory, run);
}

class Children {
public:
    Children(const SweepOptions& options, const Sweep& sweep) : options_(options), sweep_(sweep) {}
    ~Children()
    {
        for (const auto& [pid, index] : running_) ::kill(pid, SIGTERM);
        for (const auto& [pid, index] : running_) ::waitpid(pid, nullptr, 0);
    }

    std::size_t running() const { return running_.size(); }

    void start(std::size_t index)
    {
        const fs::path folder = point_folder(options_, index);
        make_folder(folder);
        std::error_code none;
        fs::remove(folder / "result.json", none);
        remove_leftovers(folder, "result.json");
        const std::string messages = (folder / "messages.txt").string();
        const int descriptor = ::open(messages.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);
        if (descriptor < 0) throw ConfigError(messages, std::string("cannot be written (") + std::strerror(errno) + ")");
        const pid_t parent = ::getpid();
        std::fflush(stdout);  // or the child would print it again
        const pid_t pid = ::fork();
        if (pid == 0) become_point(parent, descriptor, index);
        ::close(descriptor);
        if (pid < 0) throw ConfigError("--jobs", "no more processes can be started, expected fewer jobs");
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
    /// The child: dies with its parent, says what it has to say in its folder.
    [[noreturn]] void become_point(pid_t parent, int messages, std::size_t index)
    {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(kInterrupted);  // it died before it could be watched
        ::dup2(messages, STDERR_FILENO);
        ::_exit(guarded([&] { return run_point(options_, sweep_, index); }));
    }

    const SweepOptions& options_;
    const Sweep& sweep_;
    std::map<pid_t, std::size_t> running_;
};

}  // namespace

std::vector<PlacedKey> point_keys()
{
    std::vector<PlacedKey> keys;
    place_keys(keys, std::array{kPointColumn, kAxisColumn});
    place_keys(keys, kFigureColumns);
    place_keys(keys, std::array{kReasonColumn});
    return keys;
}

int sweep_command(const SweepOptions& options)
{
    const Sweep sweep = read_sweep(options.sweep);
    if (sweep.points.empty()) throw ConfigError(options.sweep, "every point is excluded, expected at least one");
    watch_for_interrupt();
    const OutputFolder folder(options.out), points(folder.path() / "points");
    const FolderLock lock(points.path());
    for (const char* name : {"points.csv", "points.json"}) remove_leftovers(folder.path(), name);
    OutputFile csv = folder.file("points.csv"), json = folder.file("points.json");
    const std::size_t count = sweep.points.size();
    Tables tables(count);
    std::size_t next = 0, done = 0, results = 0;
    bool differs = false, broke = false;
    Children children(options, sweep);
    while (done < count) {
        while (next < count && children.running() < options.jobs) children.start(next++);
        const auto ended = children.wait();
        if (!ended) {
            say_error("dlasim: interrupted after {} of {} points, no table written\n", done, count);
            return kInterrupted;
        }
        const auto [index, status] = *ended;
        const OrderedJson row = row_of(options, sweep, index, status);
        tables.set(index, row);
        ++done;
        results += status == kDone || status == kMismatch;
        differs |= status == kMismatch;
        broke |= status >= kMachineBroke;
        if (!options.quiet)
            say("{:>4} of {}  point {:<4} {}\n", done, count, index,
                status == kDone ? fmt::format("{} cycles", row["cycles"].dump()) : printable(row["reason"].get<std::string>()));
    }
    tables.write(csv, json);
    if (!options.quiet)
        say("{} points, {} without a result; written {}\n", count, count - results, printable((folder.path() / "points.csv").string()));
    if (broke) return kMachineBroke;
    if (differs) return kMismatch;
    return results == 0 ? kBadInput : kDone;
}

}  // namespace dlasim
