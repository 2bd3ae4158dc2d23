// Typed jobs: a template converts them to payloads and back. An unreadable job is given up at once,
// a failed one is tried again, and the dead ones are redriven after the repair.
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tableq/tableq.hpp>
#include <utility>

namespace {

using namespace std::chrono_literals;

/// Runs jobs of one type. Job has `std::string to_payload() const` and a static `Job
/// from_payload(const std::string&)`, which throws if the text is not a job.
template <class Job>
class job_runner {
 public:
  job_runner(tableq::database& db, const std::string& name)
      : jobs_(
            db.claim(name, {.max_attempts = 2, .retry = {10ms}, .dead_letters = name + "-dead"})) {}

  /// @return false if a job with the key of the options waits or runs already.
  bool add(const Job& job, const tableq::claim_enqueue_options& options = {}) {
    return jobs_.enqueue(job.to_payload(), options).created();
  }

  /// Calls work(job) for each job until none is left.
  template <class Work>
  tableq::worker_counts run(Work work) {
    const auto handle = [&work](const tableq::delivery& taken) {
      std::optional<Job> job;
      try {
        job = Job::from_payload(taken.payload);
      } catch (const std::exception& unreadable) {
        return tableq::handled::give_up(unreadable.what());  // another attempt would fail again
      }
      work(*job);  // an exception fails the message
      return tableq::handled::completed();
    };
    tableq::worker pool(jobs_, handle, {.until_empty = true});
    pool.join();
    return pool.counts();
  }

  /// @return how many dead jobs are ready again.
  std::size_t redrive() { return jobs_.redrive_all().count; }

 private:
  tableq::claim_queue jobs_;
};

struct resize {
  std::string picture;
  int width = 0;

  [[nodiscard]] std::string to_payload() const { return std::to_string(width) + ' ' + picture; }
  static resize from_payload(const std::string& payload) {
    resize job;
    std::istringstream words(payload);
    if (!(words >> job.width >> job.picture)) throw std::invalid_argument("not a resize job");
    return job;
  }
};

}  // namespace

int main(int argc, char** argv) try {
  auto db = tableq::database::open(argc > 1 ? argv[1] : "sqlite://jobs.db");
  job_runner<resize> runner(db, "resize");
  runner.add({"sea.jpg", 100}, {.key = "sea.jpg"});
  const bool twice = runner.add({"sea.jpg", 100}, {.key = "sea.jpg"});
  runner.add({"later.jpg", 100}, {.delay = 100ms});
  runner.add({"town.jpg", 100}, {.priority = 1});  // comes first
  std::cout << "added twice: " << (twice ? "yes" : "no") << '\n';

  bool repaired = false;
  const auto work = [&](const resize& job) {
    if (job.picture == "town.jpg" && !repaired) throw std::runtime_error("the disk is away");
    std::cout << job.picture << " is " << job.width << " wide\n";
  };
  const tableq::worker_counts counts = runner.run(work);
  std::cout << "failed attempts: " << counts.failed << '\n';
  repaired = true;
  std::cout << "redriven: " << runner.redrive() << '\n';
  runner.run(work);
} catch (const tableq::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
