#include "app/sweep_command.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>

#include "app/interrupt.h"
#include "app/net_command.h"
#include "app/run_command.h"
#include "app/status.h"
#include "app/sweep_children.h"
#include "app/sweep_folder.h"
#include "app/sweep_row.h"
#include "app/sweep_shared.h"
#include "base/error.h"
#include "files/console.h"
#include "files/input.h"
#include "jobs/job.h"
#include "network/plan.h"

namespace dlasim {
namespace {

/// One point, in a process of its own.
int run_point(const SweepOptions& options, const SweepPoint& point, const std::string& folder, std::shared_ptr<const SharedLayer> shared)
{
    if (const Network* network = std::get_if<Network>(&point.work)) {
        NetOptions run;
        run.out = folder;
        run.quiet = true;
        run.timing_only = options.timing_only;
        run.output = false;
        run.report = true;
        return run_network(*network, point.hardware, point.memory, run);
    }
    RunOptions run;
    run.out = folder;
    run.quiet = true;
    run.timing_only = options.timing_only;
    run.tensors = false;
    run.report = true;
    return run_job(std::get<Descriptor>(point.work), point.hardware, point.memory, run, std::move(shared));
}

/// How many points ended how.
struct Tally {
    std::size_t ended = 0, results = 0, refused = 0, differ = 0, broke = 0;
    void add(int status)
    {
        ++ended;
        results += has_result(status);
        differ += status == kMismatch;
        refused += status == kBadInput;
        broke += status >= kMachineBroke;
    }
    /// The worst of the points.
    int status() const
    {
        if (broke != 0) return kMachineBroke;
        if (differ != 0) return kMismatch;
        if (results == 0) return kBadInput;
        return refused != 0 ? kPointsRefused : kDone;
    }
    /// "18 points: 15 with a result, 2 refused, 1 broke the machine".
    std::string text(std::size_t points) const
    {
        std::string text = fmt::format("{} point{}: {} with a result", points, points == 1 ? "" : "s", results);
        if (differ != 0) text += fmt::format(", {} of them with other values than the reference", differ);
        if (refused != 0) text += fmt::format(", {} refused", refused);
        if (broke != 0) text += fmt::format(", {} without an end of their own", broke);
        return text;
    }
};

/// Says how far the sweep is: a line a point, and on a terminal when it will end.
class SweepProgress {
public:
    SweepProgress(std::size_t points, std::size_t before, bool quiet)
        : points_(points), before_(before), quiet_(quiet), terminal_(!quiet && ::isatty(STDERR_FILENO) != 0)
    {
    }
    ~SweepProgress() { wipe(); }

    void point(const KeptPoint& kept, std::size_t done)
    {
        if (quiet_) return;
        wipe();
        const std::string what = kept.status == kDone ? fmt::format("{} cycles", grouped(kept.row["cycles"].get<std::uint64_t>()))
                                                      : printable(kept.row["reason"].get<std::string>());
        const std::string left = done < points_ ? "   " + left_text(done) : "";
        say("{:>4} of {}  point {:<4} {}{}\n", done, points_, kept.point, what, terminal_ ? "" : left);
        std::fflush(stdout);  // whoever follows a log sees it now
        if (!terminal_ || done == points_) return;
        say_error("{} of {} points,{}", done, points_, left);
        shown_ = true;
    }

private:
    using Clock = std::chrono::steady_clock;
    std::string left_text(std::size_t done) const
    {
        const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
        const double left = seconds / static_cast<double>(done - before_) * static_cast<double>(points_ - done);
        const std::time_t end = std::time(nullptr) + static_cast<std::time_t>(left);
        std::tm local = {};
        ::localtime_r(&end, &local);
        const std::string duration = left < 100 ? fmt::format("{:.0f} s", left) : fmt::format("{:.0f} min", left / 60);
        return fmt::format("about {} left, until {:02}:{:02}", duration, local.tm_hour, local.tm_min);
    }
    void wipe()
    {
        if (shown_) std::fputs("\r\x1b[K", stderr);
        shown_ = false;
    }

    std::size_t points_, before_;
    bool quiet_, terminal_, shown_ = false;
    Clock::time_point start_ = Clock::now();
};

/// Why the machine or the layer of a point cannot be; empty if they can.
std::string refusal(const Sweep& sweep, std::size_t index)
{
    try {
        const SweepPoint point = sweep_point(sweep, index);
        if (const Network* network = std::get_if<Network>(&point.work))
            plan_network(*network, point.hardware, point.memory, {.seed = 1, .values = false});
        else outline_of(std::get<Descriptor>(point.work), point.hardware, point.memory);
        return "";
    } catch (const ConfigError& error) {
        return error.what();
    }
}

/// All points, those that cannot be with the rule that they break; none runs.
int list_points(const Sweep& sweep)
{
    Tally tally;
    for (std::size_t index = 0; index < sweep.points.size(); ++index) {
        const std::vector<Json> values = point_values(sweep, sweep.points[index]);
        std::string text;
        for (std::size_t a = 0; a < values.size(); ++a) text += fmt::format("  {}={}", sweep.axes[a].name, json_excerpt(values[a]));
        const std::string why = refusal(sweep, index);
        say("{:>4}{}{}\n", index, printable(text), why.empty() ? "" : "   refused: " + printable(why));
        tally.add(why.empty() ? kDone : kBadInput);
        if (interrupted()) return kInterrupted;
    }
    say("{} points: {} can run, {} refused\n", tally.ended, tally.results, tally.refused);
    return tally.status();
}

/// The table of the command line, or that of the sweep.
EnergyTable energy_for(const SweepOptions& options, const Sweep& sweep)
{
    if (!options.energy.empty()) return read_energy(options.energy, "--energy", "");
    return read_energy(sweep.energy, at(sweep.file, "/energy"), sweep.folder);
}

/// All that decides the rows.
SweepIdentity identity(const SweepOptions& options, const Sweep& sweep)
{
    std::string text = options.timing_only ? "--timing-only" : "";
    std::error_code none;
    if (!options.energy.empty())
        text += " --energy " + (std::filesystem::exists(options.energy, none) ? read_text(options.energy) : options.energy);
    return identity_of(sweep, text);
}

PageFacts page_facts(const Sweep& sweep)
{
    PageFacts facts{
        sweep.name.empty() ? std::filesystem::path(sweep.file).stem().string() : sweep.name, {}, sweep.points.size(), row_keys()};
    for (const SweepAxis& axis : sweep.axes) facts.axes.push_back(axis.name);
    return facts;
}

/// The tables of all shards together. What is missing then can be run in the same folder by --resume.
int collect_points(const SweepOptions& options, const Sweep& sweep)
{
    const SweepIdentity all = identity(options, sweep);
    SweepFolder folder(options.out, all, sweep.points.size(), {}, options.resume, options.restart);
    for (const std::string& from : options.collect) folder.take_from(from, all);
    Tally tally;
    for (const auto& [point, status] : folder.store().statuses()) tally.add(status);
    const std::string csv = folder.write_tables(page_facts(sweep)).string();
    if (tally.ended < sweep.points.size())
        throw ConfigError(options.out,
                          fmt::format("has {} of {} points now, expected the folders of all shards; --resume runs the others here",
                                      tally.ended, sweep.points.size()));
    if (!options.quiet) say("{}; written {}\n", tally.text(sweep.points.size()), printable(csv));
    return tally.status();
}

int run_points(const SweepOptions& options, const Sweep& sweep)
{
    const std::size_t count = sweep.points.size();
    const EnergyTable energy = energy_for(options, sweep);
    const SweepShard shard{options.shard, options.shards};
    const std::size_t own = shard.count(count);
    SweepFolder folder(options.out, identity(options, sweep), count, shard, options.resume, options.restart);
    SweepStore& store = folder.store();
    std::vector<bool> done(count);
    Tally tally;
    for (const auto& [point, status] : store.statuses()) {
        if (point >= count || was_killed(status)) continue;  // what was ended from outside runs again
        done[point] = true;
        tally.add(status);
    }
    if (!options.quiet && tally.ended != 0) say("{} of {} points have ended before\n", tally.ended, own);
    SweepProgress progress(own, tally.ended, options.quiet);
    // Of the point that is started next: its child finds them here.
    std::optional<SweepPoint> point;
    std::shared_ptr<const SharedLayer> shared;
    SharedLayers layers;
    Children children(
        [&](std::size_t index) {
            if (!point) point = sweep_point(sweep, index);  // says in the child why it cannot be
            return run_point(options, *point, folder.point(index).string(), shared);
        },
        [&](std::size_t index) { return folder.point(index); });
    std::size_t next = 0;
    const auto start_some = [&] {
        for (; next < count && children.running() < options.jobs; ++next) {
            if (done[next] || !shard.has(next)) continue;
            folder.prepare_point(next);
            point.reset();
            shared.reset();
            try {
                point = sweep_point(sweep, next);
                if (!options.timing_only) shared = layers.of(*point);
            } catch (const ConfigError&) {  // the child will say it
            }
            children.start(next);
        }
    };
    for (start_some(); tally.ended < own;) {
        const std::vector<Children::Ended> ended = children.ended();
        if (interrupted()) {
            const std::string csv = folder.write_tables(page_facts(sweep)).string();
            say_error("dlasim: interrupted after {} of {} points{}; --resume goes on from here\n", tally.ended, own,
                      csv.empty() ? "" : "; written " + printable(csv));
            return kInterrupted;
        }
        start_some();
        std::vector<KeptPoint> rows;
        rows.reserve(ended.size());
        for (const Children::Ended& child : ended)
            rows.push_back(row_of(sweep, energy, child.index, child.status, folder.point(child.index)));
        store.keep(rows);
        for (const KeptPoint& kept : rows) {
            tally.add(kept.status);
            progress.point(kept, tally.ended);
        }
    }
    const std::string csv = folder.write_tables(page_facts(sweep)).string();
    if (!options.quiet) say("{}; written {}\n", tally.text(own), printable(csv));
    return tally.status();
}

}  // namespace

std::vector<PlacedKey> point_keys() { return row_keys(); }

int sweep_command(const SweepOptions& options)
{
    const Sweep sweep = read_sweep(options.sweep);
    if (sweep.points.empty()) throw ConfigError(options.sweep, "every point is excluded, expected at least one");
    for (const SweepAxis& axis : sweep.axes)
        for (const PlacedKey& column : row_keys())
            if (axis.name == column.path)
                throw ConfigError(at(sweep.file, "/axes/" + axis.name), "is a figure of the table, expected an axis");
    watch_for_interrupt();
    if (options.list) return list_points(sweep);
    return options.collect.empty() ? run_points(options, sweep) : collect_points(options, sweep);
}

}  // namespace dlasim
