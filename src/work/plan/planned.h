// What runs, planned once: every command, sweep, suite, export and the library start from it.
//
//   read_source() ──► Source ──┐
//   a point of a sweep ────────┴──► with_planned() ──► a layer, a network or model, a compiler's file, a recording:
//                                                      its workload, its host, the regions that it writes, what it found
//
// Error  ConfigError if the machine cannot do it.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "config/model/tolerance.h"
#include "config/source.h"
#include "jobs/job_host.h"
#include "loadable/reference/loadable_host.h"
#include "lowering/memory/layer_contents.h"
#include "network/network_host.h"
#include "replay/recording.h"

namespace dlasim {

/// What is known before anything runs, whatever it is made of.
struct Planned {
    virtual ~Planned() = default;
    virtual const Workload& workload() const = 0;
    /// Made when it is first asked for.
    virtual Host& host() = 0;
    /// As exports call it.
    virtual std::string name() const { return workload().name; }
    /// Regions that are compared after a run; none: those that change.
    virtual std::vector<loadable::Range> outputs() const { return {}; }
    /// Of its products; empty where that is not one.
    virtual std::string precision() const { return ""; }
    /// What all comparisons found. pre: host().after()
    virtual Comparison found() const = 0;
};

struct PlannedLayer final : Planned {
    PlannedLayer(Descriptor described, Job planned, bool values)
        : descriptor(std::move(described)), job(std::move(planned)), runs(job, values)
    {
    }
    const Workload& workload() const override { return job; }
    Host& host() override { return runs; }
    std::string precision() const override { return job.text.descriptor.value("precision", ""); }
    Comparison found() const override;

    Descriptor descriptor;  // with the tiling that was chosen
    Job job;
    JobHost runs;
};

class OnnxRun;  // of the program: app/commands/onnx_run.h
struct PlannedNetwork final : Planned {
    PlannedNetwork(NetworkPlan planned, bool values, bool keep_values)
        : plan(std::move(planned)), values_(values), keep_values_(keep_values)
    {
    }
    const Workload& workload() const override { return plan; }
    NetworkHost& host() override;
    std::string name() const override { return plan.network.name; }
    std::string precision() const override { return plan.network.is_fp16() ? "fp16" : "int8"; }
    Comparison found() const override;

    NetworkPlan plan;
    std::shared_ptr<OnnxRun> model;     // null: tensors come by seed
    std::optional<ImageSource> source;  // of a model

private:
    bool values_, keep_values_;
    std::optional<NetworkHost> host_;
};

struct PlannedFile final : Planned {
    PlannedFile(loadable::LoadablePlan planned, bool values, bool verify) : plan(std::move(planned)), values_(values), verify_(verify) {}
    const Workload& workload() const override { return plan; }
    loadable::LoadableHost& host() override;
    std::string name() const override { return std::filesystem::path(plan.loadable->file).stem().string(); }
    std::vector<loadable::Range> outputs() const override { return plan.written; }
    Comparison found() const override;

    loadable::LoadablePlan plan;

private:
    bool values_, verify_;
    std::optional<loadable::LoadableHost> host_;
};

struct PlannedRecording final : Planned {
    PlannedRecording(MeasuredCase read, const std::string& file)
        : recorded(std::move(read)), runs(recorded.recording), workload_(workload_of(recorded, file))
    {
    }
    const Workload& workload() const override { return workload_; }
    Host& host() override { return runs; }
    Comparison found() const override;

    MeasuredCase recorded;
    RecordingHost runs;

private:
    Workload workload_;
};

struct PlanOptions : SourceOptions {
    std::optional<std::uint64_t> seed;          // of what files leave open; none: the file's own
    bool values = true;                         // memory is filled, computed and compared; without it only time counts
    bool outline = false;                       // no run follows: nothing is made that only runs need
    bool verify = true;                         // a compiler's file is compared with the golden operations
    bool tensors = false;                       // every tensor of a network is kept
    bool steps = false, by_step = false;        // tensors of the first image of a model are kept; the loss of each step is found
    NetworkOptions network;                     // but seed, values and images
    std::string from_plan;                      // of a network: the file with its tilings and decisions; empty: none
    Tolerance tolerance;                        // of expected tensors that have none of their own
    std::shared_ptr<const SharedLayer> shared;  // data of a layer, where they are there already
    /// Set the tiling of a layer, decisions of a network, by running them. Null: as the planner does it.
    std::function<void(Descriptor&, const Source&)> choose;
    std::function<void(Network&, const Source&, const NetworkOptions&)> improve;
    /// plan_model(), where there is one.
    std::function<std::unique_ptr<PlannedNetwork>(const OnnxWork&, const Source&, const PlanOptions&)> model_planner;
};

std::unique_ptr<PlannedLayer> planned(const Descriptor& descriptor, const Source& source, const PlanOptions& options);
/// `images`: that run one after the other, of a model.
std::unique_ptr<PlannedNetwork> planned(const Network& network, const Source& source, const PlanOptions& options, std::size_t images = 1);
std::unique_ptr<PlannedNetwork> planned(const OnnxWork& model, const Source& source, const PlanOptions& options);
std::unique_ptr<PlannedFile> planned(const LoadableWork& work, const Source& source, const PlanOptions& options);
std::unique_ptr<PlannedRecording> planned(const RecordedWork& work, const Source& source, const PlanOptions& options);

/// `use` gets the plan, as the type that it is.
template <class Use>
auto with_planned(const Source& source, const PlanOptions& options, const Use& use)
{
    return std::visit([&](const auto& work) { return use(planned(work, source, options)); }, source.work);
}

}  // namespace dlasim
