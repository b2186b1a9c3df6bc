#include "platform/meter.h"

#include <algorithm>

namespace dlasim {

Meter::Meter(const sc_core::sc_module_name& name, Clock& clock, Top& top, bool causes)
    : sc_module(name), clock_(clock), top_(top), causes_(causes), window_([this](Cycle end) { return take(end); }, {}, {})
{
    SC_HAS_PROCESS(Meter);
    SC_METHOD(look);
    sensitive << due_;
    dont_initialize();
    begin();
}

Snapshot Meter::take(Cycle end)
{
    Snapshot taken;
    for (UnitModule* unit : top_.units()) taken.units.push_back(unit->core().report(end));
    return taken;
}

void Meter::begin()
{
    window_ = Window([this](Cycle end) { return take(end); }, {}, {});
    mark_ = 0;
    if (causes_) path_.emplace(top_);
    top_.glb().on_interrupt = [this](Cycle at) {
        window_.interrupt(at);
        if (path_) path_->path().interrupt(at);
        schedule();
    };
}

void Meter::mark(Cycle at)
{
    mark_ = at;
    resting_ = false;
    window_.mark(at);
    top_.count_from(at + 1);
    if (path_) path_->path().cut(at);
    schedule();
}

void Meter::hold()
{
    due_.cancel();
    begin();
}

void Meter::release() { schedule(); }

void Meter::start_of_simulation() { schedule(); }

/// The cycle before `next` is over, and that one has not begun.
void Meter::schedule()
{
    // What the path waits for must not be all that keeps the simulation going.
    const bool follows = path_ && !resting_ && sc_core::sc_pending_activity();
    const Cycle next = std::min(window_.next(), follows ? path_->path().next() : kNever);
    if (next == kNever || top_.held()) return;
    clock_.expect_activity();
    const sc_core::sc_time edge = clock_.until(next), tick = sc_core::sc_get_time_resolution();
    due_.notify(edge > tick ? edge - tick : sc_core::SC_ZERO_TIME);
}

void Meter::look()
{
    if (top_.held() || top_.failures().any()) return;
    const Cycle end = clock_.first_not_run();
    window_.look(end);
    if (path_) path_->look(end);
    schedule();
}

RunResult Meter::read(bool to_interrupt)
{
    RunResult run;
    run.t0 = mark_;
    const Cycle end = clock_.first_not_run();
    if (top_.held() || top_.failures().any() || end <= mark_ + 1) return run;
    look();
    const bool interrupted = to_interrupt && window_.interrupted();
    const Cycle done = interrupted ? window_.done(end - 1) : end - 1;
    const Snapshot last = take(end);
    run.end = end - 1;
    run.cycles = done - mark_;
    run.units = reports(window_.from(), interrupted ? window_.to(last) : last);
    run.dbb = port_traffic(top_.mcif().traffic(), run.end);
    if (top_.cvif()) run.cvsram = port_traffic(top_.cvif()->traffic(), run.end);
    if (path_) run.causes = path_->causes(mark_, done, interrupted);
    return run;
}

}  // namespace dlasim
