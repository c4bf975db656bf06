//! Test support: an AWS emulator with the system's resources, and faults.

pub mod harness {
    //! A local AWS for tests, and the faults that can be injected into it. The emulator and the calls of its services
    //! are in the package `local-cloud`.
    //!
    //! | module | contents |
    //! | --- | --- |
    //! | [`setup`] | a table, queues and a bucket, created directly in milliseconds; the parts of a deployment |
    //! | [`faults`] | a proxy in front of the emulator that loses replies, refuses, or throttles |
    //! | [`aws_limits`] | a proxy in front of the emulator that enforces the limits of AWS |
    //! | [`stack`] | the system, deployed from the template |
    //! | [`handlers`] | the handlers that a stack may call: functions, and a local HTTPS endpoint |
    //! | [`backdoor`] | access to its resources, and states that a crash leaves behind, created without a crash |
    //! | [`alarms`] | states of alarms, the signals that they are made of, and diverted queues |
    //! | [`samples`], [`alarm_rules`] | what CloudWatch makes of the logs, and of the alarms of the template |
    //! | [`users`] | users of the stack's pool, signed in |
    //! | [`versions`] | functions of several versions in one stack |
    //! | [`client`], [`jobs`], [`parts`], [`watch`] | a browser that checks every response |

    pub mod alarm_rules;
    pub mod alarms;
    pub mod aws_limits;
    pub mod backdoor;
    pub mod client;
    mod deploy;
    pub mod faults;
    mod formulas;
    pub mod handlers;
    pub mod jobs;
    pub mod parts;
    pub mod samples;
    pub mod setup;
    pub mod stack;
    pub mod users;
    pub mod versions;
    pub mod watch;
}
